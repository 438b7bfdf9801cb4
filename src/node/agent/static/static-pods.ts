/**
 * The static pods of the node. A file that has changed is another pod: the old one ends first, then the new one of the same
 * name starts.
 */
import { timestamp } from '../../../base/time/timestamp.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { graceSecondsOf } from '../../pod/plan/steps/plan-container.ts';
import { keyOf, type MirrorPods } from './mirror-pods.ts';

export interface StaticPodsOptions {
  readonly mirrors: MirrorPods;
  readonly now: () => number;
  /** Runs a pod. */
  readonly start: (pod: SeenPod) => void;
  /** Ends a pod that was started; `ended` is called when nothing of it is left. */
  readonly end: (pod: SeenPod) => void;
  /** Reports whether a pod of that name is on the node, which has to end before. */
  readonly isOccupied: (pod: SeenPod) => boolean;
}

export class StaticPods {
  /** Pods in the files, by namespace and name. */
  #wanted: ReadonlyMap<string, SeenPod> = new Map();
  /** Pods that were started and have not ended, by namespace and name. */
  readonly #started = new Map<string, SeenPod>();
  readonly #ending = new Set<SeenPod>();

  constructor(private readonly options: StaticPodsOptions) {}

  /** Takes note of all pods that the files describe now. */
  set(pods: readonly SeenPod[]): void {
    this.#wanted = new Map(pods.map((pod) => [keyOf(pod), pod]));
    for (const [key, pod] of this.#started) {
      const isWanted = this.#wanted.get(key)?.metadata.uid === pod.metadata.uid;
      if (isWanted || this.#ending.has(pod)) continue;
      this.#ending.add(pod);
      this.options.end(this.#deleted(pod));
    }
    for (const key of this.#wanted.keys()) this.#startIfFree(key);
  }

  /** Nothing of a pod of this name is left on the node. */
  ended(pod: SeenPod): void {
    const key = keyOf(pod);
    const started = this.#started.get(key);
    if (started?.metadata.uid === pod.metadata.uid) {
      this.#started.delete(key);
      this.#ending.delete(started!);
      this.options.mirrors.hide(pod);
    }
    this.#startIfFree(key);
  }

  #startIfFree(key: string): void {
    const { mirrors, start, isOccupied } = this.options;
    const pod = this.#wanted.get(key);
    if (!pod || this.#started.has(key) || isOccupied(pod)) return;
    this.#started.set(key, pod);
    mirrors.show(pod);
    start(pod);
  }

  /** As if it had been deleted in the API: it has its grace period. */
  #deleted(pod: SeenPod): SeenPod {
    const graceSeconds = graceSecondsOf(pod.spec);
    const deletionTimestamp = timestamp(this.options.now() + graceSeconds * 1_000);
    return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } };
  }
}
