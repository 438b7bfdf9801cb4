/** Pods nominated to a node, so that no pod of lower priority takes the resources that preemption frees for them. */
import type { PodInfo } from './pod-info.ts';

export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodeOf = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#nodeOf.size === 0;
  }

  set(pod: PodInfo, nodeName: string): void {
    this.delete(pod.uid);
    this.#nodeOf.set(pod.uid, nodeName);
    const list = this.#byNode.get(nodeName) ?? new Map<string, PodInfo>();
    list.set(pod.uid, pod);
    this.#byNode.set(nodeName, list);
  }

  delete(uid: string): void {
    const nodeName = this.#nodeOf.get(uid);
    if (nodeName === undefined) return;
    this.#nodeOf.delete(uid);
    const list = this.#byNode.get(nodeName);
    list?.delete(uid);
    if (list?.size === 0) this.#byNode.delete(nodeName);
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid);
  }

  on(nodeName: string): PodInfo[] {
    return [...(this.#byNode.get(nodeName)?.values() ?? [])];
  }

  /** Returns the nominated pods that the pod must leave room for. */
  before(pod: PodInfo, nodeName: string): PodInfo[] {
    const list = this.#byNode.get(nodeName);
    if (!list) return [];
    return [...list.values()].filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
  }
}
