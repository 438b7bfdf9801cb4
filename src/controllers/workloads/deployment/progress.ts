/** The conditions of a Deployment: whether it is available, and whether its rollout progresses. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { UNLIMITED } from '../../../kinds/conversion/unlimited.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';
import { withoutCondition } from '../../shared/conditions.ts';
import { sum, updateLimitsOf, type WorkingSet } from './working-set.ts';

type Status = DeepReadonly<Deployment>['status'];
export type Conditions = readonly NonNullable<Status['conditions']>[number][];
type Condition = Conditions[number];

export const PROGRESSING = 'Progressing';
const COMPLETE = 'NewReplicaSetAvailable';
const TIMED_OUT = 'ProgressDeadlineExceeded';
const PAUSED = 'DeploymentPaused';
const FAILURE = 'ReplicaFailure';

/** The content of a condition; `withCondition` adds the times. */
type ConditionContent = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const said = (type: string, status: string, reason: string, message: string): ConditionContent => ({
  type,
  status,
  reason,
  message,
});

/** A condition with the same status and reason is kept, with its message and times. */
export function withCondition(conditions: Conditions, condition: ConditionContent, now: number): Conditions {
  const old = find(conditions, condition.type);
  if (old?.status === condition.status && old.reason === condition.reason) return conditions;
  return replaced(conditions, condition, now);
}

function replaced(conditions: Conditions, condition: ConditionContent, now: number): Conditions {
  const old = find(conditions, condition.type);
  const time = timestamp(now);
  const since = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
  const next = { ...condition, lastUpdateTime: time, lastTransitionTime: since };
  return [...withoutCondition(conditions, condition.type), next];
}

const find = (conditions: Conditions, type: string) => conditions.find((condition) => condition.type === type);

export const hasDeadline = ({ spec }: DeepReadonly<Deployment>) =>
  (spec.progressDeadlineSeconds ?? UNLIMITED) !== UNLIMITED;

/** The progress deadline is suspended while the Deployment is paused, and restarts when it is resumed. */
export function pausedConditions(
  deployment: DeepReadonly<Deployment>,
  conditions: Conditions,
  now: number,
): Conditions {
  const { paused = false } = deployment.spec;
  const reason = find(conditions, PROGRESSING)?.reason;
  if (!hasDeadline(deployment) || reason === TIMED_OUT || paused === (reason === PAUSED)) return conditions;
  const condition = paused
    ? said(PROGRESSING, 'Unknown', PAUSED, 'Deployment is paused')
    : said(PROGRESSING, 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
  return withCondition(conditions, condition, now);
}

/** The conditions that only a rollout changes. `next` has the new counts. */
export function rolloutConditions(
  deployment: DeepReadonly<Deployment>,
  next: Status,
  {
    sets,
    currentSet,
    now,
  }: { readonly sets: readonly WorkingSet[]; readonly currentSet: WorkingSet | undefined; now: number },
): Conditions {
  const what = currentSet ? `ReplicaSet "${currentSet.name}"` : `Deployment "${deployment.metadata.name}"`;
  return withFailures(progress(deployment, next, { what, now }), currentSet ? [currentSet, ...sets] : sets);
}

function progress(
  deployment: DeepReadonly<Deployment>,
  next: Status,
  { what, now }: { readonly what: string; readonly now: number },
): Conditions {
  const conditions = next.conditions ?? [];
  if (!hasDeadline(deployment)) return withoutCondition(conditions, PROGRESSING);
  const current = find(conditions, PROGRESSING);
  const wasComplete = (next.replicas ?? 0) === (next.updatedReplicas ?? 0) && current?.reason === COMPLETE;
  if (wasComplete) return conditions;
  if (isComplete(deployment, next)) {
    return withCondition(conditions, said(PROGRESSING, 'True', COMPLETE, `${what} has successfully progressed.`), now);
  }
  if (hasProgressed(deployment.status, next)) {
    return replaced(conditions, said(PROGRESSING, 'True', 'ReplicaSetUpdated', `${what} is progressing.`), now);
  }
  if (isTimedOut(deployment, current, now)) {
    return withCondition(conditions, said(PROGRESSING, 'False', TIMED_OUT, `${what} has timed out progressing.`), now);
  }
  return conditions;
}

/** Reports whether all pods have the current template and are available, and there are no others. */
export function isComplete({ spec, metadata }: DeepReadonly<Deployment>, status: Status): boolean {
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    updatedReplicas === spec.replicas &&
    replicas === spec.replicas &&
    availableReplicas === spec.replicas &&
    observedGeneration >= (metadata.generation ?? 0)
  );
}

/** Reports progress: more new pods, fewer old ones, or more ready or available ones. */
function hasProgressed(old: Status, next: Status): boolean {
  const count = (status: Status, field: 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    status[field] ?? 0;
  const outdated = (status: Status) => count(status, 'replicas') - count(status, 'updatedReplicas');
  return (
    count(next, 'updatedReplicas') > count(old, 'updatedReplicas') ||
    outdated(next) < outdated(old) ||
    count(next, 'readyReplicas') > count(old, 'readyReplicas') ||
    count(next, 'availableReplicas') > count(old, 'availableReplicas')
  );
}

function isTimedOut(deployment: DeepReadonly<Deployment>, condition: Condition | undefined, now: number): boolean {
  if (!condition || condition.reason === COMPLETE) return false;
  return condition.reason === TIMED_OUT || deadlineOf(deployment, condition) < now;
}

function deadlineOf({ spec }: DeepReadonly<Deployment>, { lastUpdateTime = '' }: Condition): number {
  return Date.parse(lastUpdateTime) + (spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** Pods that could not be created or deleted: failures of the new set come first. */
function withFailures(conditions: Conditions, sets: readonly WorkingSet[]): Conditions {
  const failure = sets.flatMap(({ set }) => set.status.conditions ?? []).find(({ type }) => type === FAILURE);
  if (!failure) return withoutCondition(conditions, FAILURE);
  const old = find(conditions, FAILURE);
  if (old?.status === failure.status && old.reason === failure.reason) return conditions;
  const { lastTransitionTime } = failure;
  const times = lastTransitionTime ? { lastTransitionTime, lastUpdateTime: lastTransitionTime } : {};
  return [...withoutCondition(conditions, FAILURE), { ...failure, ...times }];
}

/** Plans again when the deadline has passed: nothing else would wake it. */
export function deadlineCheck(deployment: DeepReadonly<Deployment>, next: Status, now: number): readonly Action[] {
  const current = find(next.conditions ?? [], PROGRESSING);
  if (!hasDeadline(deployment) || !current || current.reason === TIMED_OUT || isComplete(deployment, next)) return [];
  return [requeueAfter(Math.max(deadlineOf(deployment, current) - now, 0) + 1000)];
}

interface StatusInput {
  readonly sets: readonly WorkingSet[];
  readonly currentSet: WorkingSet | undefined;
  readonly conditions: Conditions;
  readonly now: number;
}

export function countsOf(
  deployment: DeepReadonly<Deployment>,
  { sets, currentSet, conditions, now }: StatusInput,
): Status {
  const { spec, metadata, status } = deployment;
  const available = sum(sets, ({ set }) => set.status.availableReplicas ?? 0);
  const isAvailable = available >= spec.replicas - updateLimitsOf(deployment).maxUnavailable;
  const condition = isAvailable
    ? said('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
    : said('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.');
  const terminating = terminatingOf(sets);
  return withoutZeros({
    observedGeneration: metadata.generation,
    replicas: sum(sets, ({ set }) => set.status.replicas ?? 0),
    updatedReplicas: currentSet?.set.status.replicas ?? 0,
    readyReplicas: sum(sets, ({ set }) => set.status.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets, ({ replicas }) => replicas) - available),
    conditions: withCondition(conditions, condition, now),
    terminatingReplicas: terminating,
    collisionCount: status.collisionCount,
  });
}

/** Unknown if any observed set does not report it. */
function terminatingOf(sets: readonly WorkingSet[]): number | undefined {
  let total = 0;
  for (const { set } of sets) {
    const { observedGeneration = 0, terminatingReplicas } = set.status;
    if (terminatingReplicas !== undefined) total += terminatingReplicas;
    else if (observedGeneration > 0) return undefined;
  }
  return total;
}

/** Omits counters that are 0, as most are. */
function withoutZeros(status: Status): Status {
  const { terminatingReplicas, collisionCount, ...rest } = status;
  const shown = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== 0)) as Status;
  return {
    ...shown,
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}
