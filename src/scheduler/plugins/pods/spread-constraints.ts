/** Compiles topology spread constraints: those of the pod, or the default ones for pods of a service or controller. */
import { memoized } from '../../../base/collections/memoized.ts';
import { isKeptOff } from '../../../kinds/placement/tolerations.ts';
import { fromLabelSelector, type LabelSelector } from '../../../schema/selector/selector.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { PodQuery } from '../../cluster/pod-counts.ts';
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { World } from '../../cluster/world.ts';
import type { Pod } from '../../objects.ts';

export const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

type Source = NonNullable<Pod['spec']['topologySpreadConstraints']>[number];

type Action = 'DoNotSchedule' | 'ScheduleAnyway';

export interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
  /** Reports whether a node is eligible for this pod. */
  readonly includes: (pod: PodInfo, node: NodeInfo) => boolean;
}

const NONE: readonly Constraint[] = Object.freeze([]);

export function hardConstraints({ pod }: PodInfo): readonly Constraint[] {
  return own(pod, 'DoNotSchedule');
}

/** `isStrict`: whether nodes that lack a label are ignored, as for constraints of the pod itself. */
export function softConstraints(pod: PodInfo, world: World): { constraints: readonly Constraint[]; isStrict: boolean } {
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
export function isCounted({ selector }: Constraint, pod: PodInfo): boolean {
  return !selector.empty && !pod.isLeaving && selector.matches(pod.labels);
}

export function placed(constraint: Constraint, namespace: string): PodQuery {
  const { text, empty } = constraint.selector;
  // The text is empty for a selector of everything and of nothing: neither counts any pod.
  const key = text === '' ? 'spread' : `spread\n${namespace}\n${text}`;
  return {
    key,
    namespaces: new Set([namespace]),
    matches: empty || text === '' ? () => false : (pod) => isCounted(constraint, pod),
  };
}
