/**
 * Nodes and the pods on them as the scheduler knows them. It is ahead of the server: a pod is on its node as soon as it is
 * assumed there, before its binding is written. Updated incrementally, and read without copying.
 */

import { groupBy } from '../../base/collections/group-by.ts';
import { deepEqual } from '../../base/json/tree.ts';
import type { Node } from '../objects.ts';
import { bump, NodeInfo } from './node-info.ts';
import { type PodCounts, type PodQuery, Questions } from './pod-counts.ts';
import type { PodInfo } from './pod-info.ts';
import { TermIndex } from './term-index.ts';

interface Placed {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly isAssumed: boolean;
}

export class Cluster {
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #placed = new Map<string, Placed>();
  readonly #questions = new Questions();
  /** Number of pods on nodes by priority. */
  readonly #priorities = new Map<number, number>();
  #list: readonly NodeInfo[] | undefined;

  /** Required anti-affinity terms of pods on nodes. */
  readonly antiTerms = new TermIndex();
  /** Preferred affinity terms of pods on nodes; anti-affinity has a negative weight. */
  readonly preferences = new TermIndex();
  /** Pods that wait for victims of preemption to leave their node. */
  readonly nominations = new Nominations();
  readonly images = new Map<string, number>();
  /** Number of pods on nodes that use each claim, by `namespace/name`. */
  readonly claims = new Map<string, number>();
  /** Numbers of nodes with taints of either kind, cordoned, or on a shared network: other filters are skipped. */
  readonly nodesWith = { taints: 0, preferNoScheduleTaints: 0, cordon: 0, sharedNetwork: 0 };

  /** Nodes interleaved by zone. The list is replaced, never modified. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= interleaveZones([...this.#nodes.values()].filter(({ node }) => node !== undefined));
    return this.#list;
  }

  node(name: string): NodeInfo | undefined {
    const found = this.#nodes.get(name);
    return found?.node ? found : undefined;
  }

  setNode(node: Node): void {
    const info = this.#entry(node.metadata.name ?? '');
    const before = info.node;
    const isMoved = !before || !deepEqual(before.metadata.labels, node.metadata.labels);
    if (isMoved) {
      this.#index(info, -1);
      this.#list = undefined;
    }
    const { images } = info;
    this.#tally(info, -1);
    info.set(node);
    this.#tally(info, 1);
    this.#tallyImages(images, info.images);
    if (isMoved) this.#index(info, 1);
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info) return;
    this.#index(info, -1);
    const { images } = info;
    this.#tally(info, -1);
    info.set(undefined);
    this.#tallyImages(images, info.images);
    this.#list = undefined;
    this.#dropEmpty(info);
  }

  /** Puts the pod on the node, even if it was known to be elsewhere. */
  place(pod: PodInfo, nodeName: string): void {
    this.#put(pod, nodeName, false);
  }

  /** Puts the pod on the node before the server knows. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#put(pod, nodeName, true);
  }

  /** Takes the pod off its node, assumed or not. */
  remove(uid: string): void {
    const found = this.#placed.get(uid);
    if (!found) return;
    this.#placed.delete(uid);
    bump(this.#priorities, found.pod.priority, -1);
    found.node.remove(found.pod);
    if (found.node.node) this.#indexPod(found.node, found.pod, -1);
    this.#dropEmpty(found.node);
  }

  /** Undoes an assumption; a pod that is bound stays. */
  forget(uid: string): void {
    if (this.#placed.get(uid)?.isAssumed) this.remove(uid);
  }

  nodeOf(uid: string): NodeInfo | undefined {
    return this.#placed.get(uid)?.node;
  }

  isAssumed(uid: string): boolean {
    return this.#placed.get(uid)?.isAssumed ?? false;
  }

  /** Reports whether any pod on a node has a lower priority. */
  hasLowerPriority(priority: number): boolean {
    for (const each of this.#priorities.keys()) if (each < priority) return true;
    return false;
  }

  /** Counts pods that match; the counts keep following the cluster. */
  count(query: PodQuery): PodCounts {
    return this.#questions.ask(query, this.#nodes.values());
  }

  #put(pod: PodInfo, nodeName: string, isAssumed: boolean): void {
    const found = this.#placed.get(pod.uid);
    if (found?.node.name === nodeName && pod.countsLike(found.pod)) {
      found.node.replace(pod);
      this.#placed.set(pod.uid, { pod, node: found.node, isAssumed });
      return;
    }
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

  /** Adds or removes all pods of a node, under its labels. */
  #index(info: NodeInfo, sign: 1 | -1): void {
    if (info.node) for (const pod of info.pods.values()) this.#indexPod(info, pod, sign);
  }

  #indexPod(node: NodeInfo, pod: PodInfo, sign: 1 | -1): void {
    this.#questions.count(node, pod, sign);
    const { required, requiredAnti, preferred, preferredAnti } = pod.terms;
    for (const term of requiredAnti) this.antiTerms.count(term, node, sign);
    // Required affinity is symmetric for scoring, with Kubernetes' weight for it.
    for (const term of required) this.preferences.count(term, node, sign);
    for (const { term, weight } of preferred) this.preferences.count(term, node, sign * weight);
    for (const { term, weight } of preferredAnti) this.preferences.count(term, node, -sign * weight);
    for (const claim of pod.claims) bump(this.claims, `${pod.namespace}/${claim}`, sign);
  }

  #tally(info: NodeInfo, sign: 1 | -1): void {
    if (!info.node) return;
    if (info.isCordoned) this.nodesWith.cordon += sign;
    if (info.sharesNetwork) this.nodesWith.sharedNetwork += sign;
    if (info.taints.some(({ effect }) => effect !== 'PreferNoSchedule')) this.nodesWith.taints += sign;
    if (info.taints.some(({ effect }) => effect === 'PreferNoSchedule')) this.nodesWith.preferNoScheduleTaints += sign;
  }

  /** A node may list very many images, and changes for many other reasons. */
  #tallyImages(before: NodeInfo['images'], after: NodeInfo['images']): void {
    if (before === after) return;
    for (const image of before.keys()) bump(this.images, image, -1);
    for (const image of after.keys()) bump(this.images, image, 1);
  }
}

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** Interleaves nodes of different zones, so that a search that stops early has covered all zones. */
function interleaveZones(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = groupBy(nodes, ({ labels }) => `${labels[REGION] ?? ''}/${labels[ZONE] ?? ''}`);
  if (zones.size <= 1) return nodes;
  const out: NodeInfo[] = [];
  const lists = [...zones.values()];
  for (let position = 0; out.length < nodes.length; position++) {
    for (const list of lists) if (position < list.length) out.push(list[position]!);
  }
  return out;
}

class Nominations {
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
