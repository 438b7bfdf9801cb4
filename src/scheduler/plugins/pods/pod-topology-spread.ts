/** Spreads pods evenly over zones, nodes or other values of a label. */

import { memoized } from '../../../base/collections/memoized.ts';
import { isKeptOff } from '../../../kinds/placement/tolerations.ts';
import { fromLabelSelector, type LabelSelector } from '../../../schema/selector/selector.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { PodQuery } from '../../cluster/pod-counts.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';
import { NO_LABELS, type Node, type Pod } from '../../objects.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

type Source = NonNullable<Pod['spec']['topologySpreadConstraints']>[number];

type Action = 'DoNotSchedule' | 'ScheduleAnyway';

interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
  /** Reports whether a node is eligible for this pod. */
  readonly includes: (pod: PodInfo, node: NodeInfo) => boolean;
}

const NONE: readonly Constraint[] = Object.freeze([]);

function hardConstraints({ pod }: PodInfo): readonly Constraint[] {
  return own(pod, 'DoNotSchedule');
}

/** `isStrict`: whether nodes that lack a label are ignored, as for constraints of the pod itself. */
function softConstraints(pod: PodInfo, world: World): { constraints: readonly Constraint[]; isStrict: boolean } {
  if (pod.pod.spec.topologySpreadConstraints?.length) {
    return { constraints: own(pod.pod, 'ScheduleAnyway'), isStrict: true };
  }
  const selector = world.siblings(pod);
  if (!selector) return { constraints: NONE, isStrict: false };
  const usual = (topologyKey: string, maxSkew: number) => ({
    topologyKey,
    maxSkew,
    minDomains: 1,
    selector,
    includes: isAllowed,
  });
  return { constraints: [usual(HOSTNAME, 3), usual(ZONE, 5)], isStrict: false };
}

function own(pod: Pod, action: Action): readonly Constraint[] {
  const list = pod.spec.topologySpreadConstraints;
  return list?.length ? compiledList(list)[action] : NONE;
}

/** Cached: every event is compared with the constraints of all waiting pods. */
const compiledList = memoized((list: readonly Source[]): Readonly<Record<Action, readonly Constraint[]>> => {
  const of = (asked: Action) => list.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === asked).map(compiled);
  return { DoNotSchedule: of('DoNotSchedule'), ScheduleAnyway: of('ScheduleAnyway') };
});

function compiled(source: Source): Constraint {
  const { topologyKey, maxSkew, minDomains = 1, nodeAffinityPolicy, nodeTaintsPolicy } = source;
  const byAffinity = nodeAffinityPolicy !== 'Ignore';
  const byTaints = nodeTaintsPolicy === 'Honor';
  return {
    topologyKey,
    maxSkew,
    minDomains,
    selector: fromLabelSelector(source.labelSelector),
    includes: (pod, node) => (!byAffinity || isAllowed(pod, node)) && (!byTaints || isTolerated(pod, node)),
  };
}

function isAllowed({ places }: PodInfo, node: NodeInfo): boolean {
  return places?.(node) ?? true;
}

function isTolerated({ pod }: PodInfo, { taints }: NodeInfo): boolean {
  return !isKeptOff(pod.spec.tolerations, taints);
}

/** Pods that are being deleted do not count, and a selector that matches everything matches no pod here. */
function isCounted({ selector }: Constraint, pod: PodInfo): boolean {
  return !selector.empty && !pod.isLeaving && selector.matches(pod.labels);
}

function placed(constraint: Constraint, namespace: string): PodQuery {
  const { text, empty } = constraint.selector;
  // The text is empty for a selector of everything and of nothing: neither counts any pod.
  const key = text === '' ? 'spread' : `spread\n${namespace}\n${text}`;
  return {
    key,
    namespaces: new Set([namespace]),
    matches: empty || text === '' ? () => false : (pod) => isCounted(constraint, pod),
  };
}

const SKEWED = rejection("node(s) didn't match pod topology spread constraints", true);
const UNLABELLED = rejection("node(s) didn't match pod topology spread constraints (missing required label)");

interface Spread {
  readonly constraint: Constraint;
  /** Pods by the value of the label, over eligible nodes. */
  readonly counts: ReadonlyMap<string, number>;
  /** The minimum count; 0 while there are fewer domains than minDomains. */
  readonly least: number;
  /** Count of the pod itself: 1 when it matches its own constraint. */
  readonly self: number;
}

interface Soft {
  readonly constraints: readonly SoftSpread[];
  /** Nodes without a label that one of the pod's own constraints names. */
  readonly ignored: ReadonlySet<NodeInfo>;
}

interface SoftSpread {
  readonly constraint: Constraint;
  readonly count: (node: NodeInfo, value: string) => number;
  readonly weight: number;
}

export const podTopologySpread: Plugin<readonly Spread[], Soft> = {
  name: 'PodTopologySpread',
  dependsOnPods: true,
  preFilter(pod, world) {
    const constraints = hardConstraints(pod);
    return constraints.length === 0 ? SKIP : { type: 'go', state: spreads(pod, constraints, world) };
  },
  filter(_, { labels }, state) {
    for (const { constraint, counts, least, self } of state) {
      const value = labels[constraint.topologyKey];
      if (value === undefined) return UNLABELLED;
      if ((counts.get(value) ?? 0) + self - least > constraint.maxSkew) return SKEWED;
    }
    return undefined;
  },
  weight: 2,
  preScore(pod, world, nodes) {
    const { constraints, isStrict } = softConstraints(pod, world);
    if (constraints.length === 0) return undefined;
    const hasAll = ({ labels }: NodeInfo) => constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined);
    const ignored = new Set(isStrict ? nodes.filter((node) => !hasAll(node)) : []);
    const judged = ignored.size === 0 ? nodes : nodes.filter((node) => !ignored.has(node));
    const counts = (node: NodeInfo) => !isStrict || hasAll(node);
    return { ignored, constraints: constraints.map((each) => softSpread(each, { pod, world, judged, counts })) };
  },
  score(_, node, { constraints, ignored }) {
    if (ignored.has(node)) return 0;
    let sum = 0;
    for (const { constraint, count, weight } of constraints) {
      const value = node.labels[constraint.topologyKey];
      if (value !== undefined) sum += count(node, value) * weight + constraint.maxSkew - 1;
    }
    return Math.round(sum);
  },
  normalise(scores, nodes, { ignored }) {
    let least = Number.POSITIVE_INFINITY;
    let most = 0;
    for (let i = 0; i < scores.length; i++) {
      if (ignored.has(nodes[i]!)) continue;
      least = Math.min(least, scores[i]!);
      most = Math.max(most, scores[i]!);
    }
    for (let i = 0; i < scores.length; i++) {
      if (ignored.has(nodes[i]!)) scores[i] = 0;
      else scores[i] = most === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (most + least - scores[i]!)) / most);
    }
  },
  hints: {
    Pod({ type, object, old }, pod) {
      const constraints = hardConstraints(pod);
      if (type === 'update' && object.metadata.uid === pod.uid) return true;
      if (object.metadata.namespace !== pod.namespace) return false;
      const counts = (other: PodInfo) => constraints.map((each) => isCounted(each, other)).join();
      const now = PodInfo.of(object);
      if (type === 'update') return counts(now) !== counts(PodInfo.of(old));
      return constraints.some(({ selector }) => selector.matches(now.labels));
    },
    Node({ type, object, old }, pod) {
      const constraints = hardConstraints(pod);
      const values = (node: Node) => {
        const labels = node.metadata.labels ?? NO_LABELS;
        return constraints.map(({ topologyKey }) => labels[topologyKey]);
      };
      const isPart = (node: Node) => values(node).every((value) => value !== undefined);
      if (type !== 'update') return isPart(object);
      if (isPart(object) !== isPart(old)) return true;
      const isSame = values(object).join('\n') === values(old).join('\n');
      return isPart(object) && (!isSame || !sameTaints(object, old));
    },
  },
};

function sameTaints({ spec: a }: Node, { spec: b }: Node): boolean {
  return JSON.stringify(a.taints ?? []) === JSON.stringify(b.taints ?? []);
}

function spreads(pod: PodInfo, constraints: readonly Constraint[], { cluster }: World): Spread[] {
  const part = cluster.nodes.filter(({ labels }) => {
    return constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined);
  });
  return constraints.map((constraint) => {
    const { byNode } = cluster.count(placed(constraint, pod.namespace));
    const counts = new Map<string, number>();
    for (const node of part) {
      if (!constraint.includes(pod, node)) continue;
      const value = node.labels[constraint.topologyKey]!;
      counts.set(value, (counts.get(value) ?? 0) + (byNode.get(node) ?? 0));
    }
    const least = counts.size < constraint.minDomains ? 0 : leastOf(counts);
    return { constraint, counts, least, self: constraint.selector.matches(pod.labels) ? 1 : 0 };
  });
}

function leastOf(counts: ReadonlyMap<string, number>): number {
  let least = Number.MAX_SAFE_INTEGER;
  for (const count of counts.values()) least = Math.min(least, count);
  return least;
}

interface SoftContext {
  readonly pod: PodInfo;
  readonly world: World;
  readonly judged: readonly NodeInfo[];
  readonly counts: (node: NodeInfo) => boolean;
}

function softSpread(constraint: Constraint, { pod, world, judged, counts }: SoftContext): SoftSpread {
  const { topologyKey } = constraint;
  const { byNode } = world.cluster.count(placed(constraint, pod.namespace));
  if (topologyKey === HOSTNAME) {
    return { constraint, count: (node) => byNode.get(node) ?? 0, weight: Math.log(judged.length + 2) };
  }
  const values = new Map<string, number>();
  let isLabelled = false;
  for (const { labels } of judged) {
    const value = labels[topologyKey];
    if (value !== undefined) isLabelled = true;
    values.set(value ?? '', 0);
  }
  // Only nodes with the label get a score from it. Where there are none, pods on thousands of nodes need not be counted.
  for (const [node, count] of isLabelled ? byNode : []) {
    const sum = values.get(node.labels[topologyKey] ?? '');
    if (sum === undefined || !counts(node) || !constraint.includes(pod, node)) continue;
    values.set(node.labels[topologyKey] ?? '', sum + count);
  }
  return { constraint, count: (_, value) => values.get(value) ?? 0, weight: Math.log(values.size + 2) };
}
