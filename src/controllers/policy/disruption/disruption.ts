/** Computes how many disruptions a budget allows. Evictions decrement that number; here it is recomputed. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../../kinds/groups/policy/pod-disruption-budget.ts';
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import {
  type Controller,
  defineController,
  type Listers,
  type Related,
  related,
  type Snapshot,
} from '../../loop/define.ts';
import { type Action, changeStatus, event, type Plan, requeueAfter, updateStatus } from '../../loop/plan.ts';
import type { KindsOptions } from '../../shared/aggregated-kinds.ts';
import { withConditions } from '../../shared/conditions.ts';
import { compiledSelector } from '../../shared/ownership.ts';
import { isReady, isTerminal } from '../../shared/pods/pod-life.ts';
import { selectorIndex } from '../../shared/selector-index.ts';
import { expectedPods, type OtherScales, observeOthers, SCALED } from './expected-pods.ts';

type Budget = DeepReadonly<PodDisruptionBudget>;

const DELETION_TIMEOUT_MS = 120_000;

export function disruptionController({ kinds }: KindsOptions): Controller {
  return defineController<PodDisruptionBudget, OtherScales>({
    name: 'disruption',
    account: 'disruption-controller',
    component: 'controllermanager',
    watches: PodDisruptionBudget,
    also: [related(Pod, budgetsOf, isSameForBudgets), ...SCALED.map(scaledOwners)],
    observe: async (budget, world, tools) =>
      budget && needsOwners(budget) ? observeOthers(podsOf(budget, world), { ...tools, kinds }) : new Map(),
    plan: planDisruption,
  });
}

const budgetsByLabels = selectorIndex(PodDisruptionBudget, ({ spec }) => compiledSelector(spec.selector));

function budgetsOf({ metadata }: SeenPod, world: Listers): string[] {
  return budgetsByLabels(metadata.labels, metadata.namespace ?? '', world).map(keyOf);
}

function isSameForBudgets(pod: SeenPod, old: SeenPod): boolean {
  return (
    isReady(pod) === isReady(old) &&
    pod.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    deepEqual(pod.metadata.labels, old.metadata.labels) &&
    deepEqual(pod.metadata.ownerReferences, old.metadata.ownerReferences)
  );
}

/** A changed size concerns all budgets of the namespace that count by size. */
const scaledOwners = (kind: (typeof SCALED)[number]): Related =>
  related(
    kind,
    ({ metadata }, { of }) => of(PodDisruptionBudget).list(metadata.namespace).filter(needsOwners).map(keyOf),
    (owner, old) => owner.spec.replicas === old.spec.replicas,
  );

const needsOwners = ({ spec }: Budget) => spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';

function podsOf({ metadata, spec }: Budget, { of }: Listers): readonly SeenPod[] {
  const selector = compiledSelector(spec.selector);
  return of(Pod)
    .list(metadata.namespace)
    .filter((pod) => selector.matches(pod.metadata.labels));
}

export function planDisruption(
  budget: Budget | undefined,
  world: Pick<Snapshot<OtherScales>, 'of' | 'observed'>,
  now: Date,
): Plan {
  if (!budget) return [];
  const pods = podsOf(budget, world);
  const needed = requirementOf(budget, pods, world);
  const time = now.getTime();
  const disrupted = disruptedOf(budget, pods, time);
  const status =
    'problem' in needed
      ? failed(budget, needed.problem, now)
      : counted(budget, { ...needed, pods, disrupted: disrupted.pending }, now);
  const written = changeStatus(PodDisruptionBudget, budget, status);
  return [
    ...written,
    ...(written.length > 0 ? eventsOf(budget, pods, needed) : []),
    ...disrupted.late.map((pod) => {
      const { namespace } = budget.metadata;
      const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      return event(pod, 'Warning', 'NotDeleted', message);
    }),
    ...(disrupted.next === undefined ? [] : [requeueAfter(disrupted.next - time)]),
  ];
}

interface PodCounts {
  readonly expected: number;
  readonly healthy: number;
  readonly unmanaged: readonly string[];
}

type Requirement = PodCounts | { readonly problem: string };

/** Returns the expected number of pods and the number that must be healthy. */
function requirementOf(
  { spec }: Budget,
  pods: readonly SeenPod[],
  world: Pick<Snapshot<OtherScales>, 'of' | 'observed'>,
): Requirement {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    return { expected: minAvailable === undefined ? 0 : pods.length, healthy: minAvailable ?? 0, unmanaged: [] };
  }
  const owners = expectedPods(pods, world.observed, world);
  if ('problem' in owners) return owners;
  const { count, unmanaged } = owners;
  const healthy =
    maxUnavailable === undefined
      ? share(minAvailable as string, count)
      : Math.max(0, count - share(maxUnavailable, count));
  return { expected: count, healthy, unmanaged };
}

/** Rounded up: a budget protects rather one pod too many. */
function share(amount: IntOrPercent, whole: number): number {
  return typeof amount === 'number' ? amount : Math.ceil((magnitude(amount) * whole) / 100);
}

interface Disrupted {
  /** Evicted pods that are not deleted yet, with the time of their eviction. */
  readonly pending: Readonly<Record<string, string>>;
  /** Pods whose deletion takes too long. */
  readonly late: readonly SeenPod[];
  /** Time at which the next evicted pod is overdue. */
  readonly next: number | undefined;
}

function disruptedOf({ status }: Budget, pods: readonly SeenPod[], now: number): Disrupted {
  const pending: Record<string, string> = {};
  const late: SeenPod[] = [];
  let next: number | undefined;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const since = status.disruptedPods?.[name];
    if (since === undefined || deletionTimestamp) continue;
    const due = Date.parse(since) + DELETION_TIMEOUT_MS;
    if (due < now) {
      late.push(pod);
      continue;
    }
    pending[name] = since;
    next = Math.min(next ?? due, due);
  }
  // At the deadline itself it is not late yet.
  return { pending, late, next: next === undefined ? undefined : next + 1 };
}

function counted(
  { metadata, status }: Budget,
  found: PodCounts & { readonly pods: readonly SeenPod[]; readonly disrupted: Readonly<Record<string, string>> },
  now: Date,
): PodDisruptionBudget['status'] {
  const { expected, healthy: desiredHealthy, pods, disrupted } = found;
  const isHealthy = ({ metadata: { name = '', deletionTimestamp } }: SeenPod) =>
    deletionTimestamp === undefined && disrupted[name] === undefined;
  const currentHealthy = pods.filter((pod) => isHealthy(pod) && isReady(pod)).length;
  // A budget without pods allows nothing: its first pods would be unprotected until they are counted.
  const disruptionsAllowed = expected > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const allowed = disruptionsAllowed > 0;
  const { generation } = metadata;
  return {
    observedGeneration: generation || undefined,
    disruptedPods: Object.keys(disrupted).length > 0 ? { ...disrupted } : undefined,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods: expected,
    conditions: conditionsOf(
      status,
      { isAllowed: allowed, reason: allowed ? 'SufficientPods' : 'InsufficientPods', generation },
      now,
    ),
  };
}

/** Allows no disruption when counting fails. */
function failed({ status }: Budget, problem: string, now: Date): PodDisruptionBudget['status'] {
  const { observedGeneration: generation } = status;
  const conditions = conditionsOf(
    status,
    { isAllowed: false, reason: 'SyncFailed', message: problem, generation },
    now,
  );
  return { ...status, disruptionsAllowed: 0, conditions } as PodDisruptionBudget['status'];
}

function conditionsOf(
  { conditions }: Budget['status'],
  said: { isAllowed: boolean; reason: string; message?: string; generation: number | undefined },
  now: Date,
): NonNullable<PodDisruptionBudget['status']['conditions']> {
  const { isAllowed, reason, message = '', generation } = said;
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    observedGeneration: generation || undefined,
    reason,
    message,
  };
  return withConditions(conditions, [condition], now) as NonNullable<PodDisruptionBudget['status']['conditions']>;
}

function eventsOf(budget: Budget, pods: readonly SeenPod[], needed: Requirement): Action[] {
  const out = pods.length > 0 ? [] : [event(budget, 'Normal', 'NoPods', 'No matching pods found')];
  if ('problem' in needed) {
    const message = `Failed to calculate the number of expected pods: ${needed.problem}`;
    out.push(event(budget, 'Warning', 'CalculateExpectedPodCountFailed', message));
  } else if (needed.unmanaged.length > 0) {
    const selector = compiledSelector(budget.spec.selector).text;
    const message =
      `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ` +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
    out.push(event(budget, 'Warning', 'UnmanagedPods', message));
  }
  return out;
}

const STALE_AFTER_MS = 120_000;

export const staleDisruptionController: Controller = defineController<never>({
  name: 'stale-disruption',
  account: 'disruption-controller',
  // Only pods with the condition, which are few.
  also: [related(Pod, (pod) => (targetOf(pod) ? [keyOf(pod)] : []))],
  plan: planStaleTarget,
});

function planStaleTarget(_: undefined, { key, of }: Pick<Snapshot, 'key' | 'of'>, now: Date): Plan {
  const pod = of(Pod).get(key.name, key.namespace);
  const target = pod && targetOf(pod);
  if (!target) return [];
  const left = Date.parse(target.lastTransitionTime ?? '') + STALE_AFTER_MS - now.getTime();
  if (left > 0) return [requeueAfter(left)];
  const conditions = withConditions(pod.status.conditions, [{ type: 'DisruptionTarget', status: 'False' }], now);
  return [updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } } as Draft<Pod>)];
}

/** A condition that the node itself set is never stale. */
function targetOf(pod: SeenPod) {
  if (pod.metadata.deletionTimestamp || isTerminal(pod)) return undefined;
  return pod.status.conditions?.find(
    ({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason !== 'TerminationByKubelet',
  );
}
