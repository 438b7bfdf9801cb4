/**
 * Nodes and the pods on them, as far as the scheduler knows, which is further than the server: a pod that was given a node
 * is on it before its binding is written. It is kept up change by change and read in place.
 */
import type { Node } from '../objects.ts';
import { bump, NodeInfo } from './node-info.ts';
import { Nominations } from './nominations.ts';
import { type PodCounts, type Question, Questions } from './pod-counts.ts';
import type { PodInfo } from './pod-info.ts';
import { TermIndex } from './term-index.ts';
import { inTurns } from './zones.ts';

interface Placed {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly isAssumed: boolean;
}

export class Cluster {
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #placed = new Map<string, Placed>();
  readonly #questions = new Questions();
  /** How many pods on nodes have a priority. */
  readonly #priorities = new Map<number, number>();
  #list: readonly NodeInfo[] | undefined;

  /** Whom the pods on nodes keep away. */
  readonly antiTerms = new TermIndex();
  /** Whom the pods on nodes would like near, or, with a negative weight, far. */
  readonly preferences = new TermIndex();
  /** Pods that wait for a node to be cleared for them. */
  readonly nominations = new Nominations();
  /** On how many nodes an image is. */
  readonly images = new Map<string, number>();
  /** How many pods on nodes use a claim, by `namespace/name`. */
  readonly claims = new Map<string, number>();
  /** How many nodes have taints of either sort, or are cordoned: filters that cannot refuse anybody are left out. */
  readonly nodesWith = { taints: 0, mildTaints: 0, cordon: 0 };

  /** All nodes, zone by zone in turns. The list is replaced, never changed. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= inTurns([...this.#nodes.values()].filter(({ node }) => node !== undefined));
    return this.#list;
  }

  node(name: string): NodeInfo | undefined {
    const found = this.#nodes.get(name);
    return found?.node ? found : undefined;
  }

  setNode(node: Node): void {
    const info = this.#entry(node.metadata.name ?? '');
    const before = info.node;
    const isMoved = !before || !sameLabels(before.metadata.labels, node.metadata.labels);
    if (isMoved) {
      this.#index(info, -1);
      this.#list = undefined;
    }
    this.#tally(info, -1);
    info.set(node);
    this.#tally(info, 1);
    if (isMoved) this.#index(info, 1);
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info) return;
    this.#index(info, -1);
    this.#tally(info, -1);
    info.set(undefined);
    this.#list = undefined;
    this.#dropEmpty(info);
  }

  /** The pod is on the node, whatever was known before. */
  place(pod: PodInfo, nodeName: string): void {
    this.#put(pod, nodeName, false);
  }

  /** The pod shall be on the node, and the server does not know yet. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#put(pod, nodeName, true);
  }

  /** The pod is on no node any more, assumed or not. */
  remove(uid: string): void {
    const found = this.#placed.get(uid);
    if (!found) return;
    this.#placed.delete(uid);
    bump(this.#priorities, found.pod.priority, -1);
    found.node.remove(found.pod);
    if (found.node.node) this.#indexPod(found.node, found.pod, -1);
    this.#dropEmpty(found.node);
  }

  /** Takes back an assumption; a pod that is known to be on its node stays. */
  forget(uid: string): void {
    if (this.#placed.get(uid)?.isAssumed) this.remove(uid);
  }

  nodeOf(uid: string): NodeInfo | undefined {
    return this.#placed.get(uid)?.node;
  }

  isAssumed(uid: string): boolean {
    return this.#placed.get(uid)?.isAssumed ?? false;
  }

  /** Whether any pod on a node is less important. */
  hasBelow(priority: number): boolean {
    for (const each of this.#priorities.keys()) if (each < priority) return true;
    return false;
  }

  /** Where pods of a sort are; the counts go on following the cluster. */
  count(question: Question): PodCounts {
    return this.#questions.ask(question, this.#nodes.values());
  }

  #put(pod: PodInfo, nodeName: string, isAssumed: boolean): void {
    this.remove(pod.uid);
    const node = this.#entry(nodeName);
    this.#placed.set(pod.uid, { pod, node, isAssumed });
    bump(this.#priorities, pod.priority, 1);
    node.add(pod);
    if (node.node) this.#indexPod(node, pod, 1);
  }

  #entry(name: string): NodeInfo {
    const found = this.#nodes.get(name) ?? new NodeInfo(name);
    this.#nodes.set(name, found);
    return found;
  }

  #dropEmpty(info: NodeInfo): void {
    if (!info.node && info.pods.size === 0) this.#nodes.delete(info.name);
  }

  /** All its pods, under the labels that it has. */
  #index(info: NodeInfo, sign: 1 | -1): void {
    if (info.node) for (const pod of info.pods.values()) this.#indexPod(info, pod, sign);
  }

  #indexPod(node: NodeInfo, pod: PodInfo, sign: 1 | -1): void {
    this.#questions.count(node, pod, sign);
    const { required, requiredAnti, preferred, preferredAnti } = pod.terms;
    for (const term of requiredAnti) this.antiTerms.count(term, node, sign);
    // Who must be near another would have the other near, too: with the weight that Kubernetes gives it.
    for (const term of required) this.preferences.count(term, node, sign);
    for (const { term, weight } of preferred) this.preferences.count(term, node, sign * weight);
    for (const { term, weight } of preferredAnti) this.preferences.count(term, node, -sign * weight);
    for (const claim of pod.claims) bump(this.claims, `${pod.namespace}/${claim}`, sign);
  }

  #tally(info: NodeInfo, sign: 1 | -1): void {
    if (!info.node) return;
    if (info.isCordoned) this.nodesWith.cordon += sign;
    if (info.taints.some(({ effect }) => effect !== 'PreferNoSchedule')) this.nodesWith.taints += sign;
    if (info.taints.some(({ effect }) => effect === 'PreferNoSchedule')) this.nodesWith.mildTaints += sign;
    for (const image of info.images.keys()) bump(this.images, image, sign);
  }
}

function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
