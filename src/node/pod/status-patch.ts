/** Builds the strategic merge patch that writes a pod's status. */
import { deepEqual, isTree } from '../../base/json/tree.ts';
import { restartAnnotations } from '../../kinds/groups/core/pod/status/restart-counts.ts';
import type { Condition } from './conditions.ts';
import type { SeenPod } from './container-run.ts';
import type { podStatus } from './pod-status.ts';

export type PodStatus = ReturnType<typeof podStatus>;

export interface StatusChange {
  /** The pod in the API. */
  readonly pod: SeenPod;
  readonly status: PodStatus;
  /** Status that was written last, where that is newer than the pod. */
  readonly written: PodStatus | undefined;
  /** Names of containers with their restarts, not capped. */
  readonly restarts: Parameters<typeof restartAnnotations>[0];
}

/** Conditions of a resize are there only while it is not done. */
const PASSING_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

/** As kubelets do, it names only what differs from what the pod shows. */
export function statusPatch({ pod, status, written, restarts }: StatusChange): object {
  const { uid } = pod.metadata;
  const annotations = restartAnnotations(restarts);
  const changes = statusChanges(written ?? (pod.status as Partial<PodStatus>), status) ?? {};
  return { metadata: annotations ? { uid, annotations } : { uid }, status: changes };
}

/** Reports whether the pod in the API has this status, besides what others write into it. */
export function showsStatus({ status: shown }: SeenPod, status: PodStatus): boolean {
  const changes = Object.entries(statusChanges(shown as Partial<PodStatus>, status) ?? {});
  return changes.every(([field, value]) => shown[field as keyof SeenPod['status']] === undefined && isEmptyList(value));
}

/** The server stores no empty list. */
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Returns the fields that differ from what is shown; undefined when none does. */
function statusChanges(shown: Partial<PodStatus>, status: PodStatus): Record<string, unknown> | undefined {
  let changes: Record<string, unknown> | undefined;
  for (const field of Object.keys(status) as (keyof PodStatus)[]) {
    if (deepEqual(status[field], shown[field])) continue;
    const change =
      field === 'conditions'
        ? conditionChanges(status.conditions, shown.conditions)
        : { [field]: valueInPlaceOf(shown[field], status[field], isMerged(field)) };
    if (change) changes = Object.assign(changes ?? {}, change);
  }
  return changes;
}

const REPLACE = { $patch: 'replace' };

/** A merge would keep what the old value has and the new one has not. */
function valueInPlaceOf(old: unknown, value: unknown, isMergedList: boolean): unknown {
  if (value === undefined) return null;
  if (old === undefined) return value;
  if (isMergedList) return [REPLACE, ...(value as readonly unknown[])];
  return isTree(value) ? { ...REPLACE, ...value } : value;
}

/** Addresses are merged by value, so that old ones stay unless the list is replaced. */
const isMerged = (field: keyof PodStatus) => field === 'hostIPs' || field === 'podIPs';

function conditionChanges(conditions: readonly Condition[], shown: readonly Condition[] = []): object | undefined {
  const changed = conditions.filter((each) => !isSame(each, shown.find(sameType(each)))).map(withEmptyFields);
  const ended = shown.filter((each) => PASSING_CONDITIONS.includes(each.type) && !conditions.some(sameType(each)));
  if (changed.length === 0 && ended.length === 0) return undefined;
  return {
    conditions: [...changed, ...ended.map(({ type }) => ({ $patch: 'delete', type }))],
    '$setElementOrder/conditions': conditions.map(({ type }) => ({ type })),
  };
}

const sameType =
  ({ type }: Condition) =>
  (other: Condition) =>
    other.type === type;

/** Compares the fields that the kubelet writes. */
function isSame(own: Condition, shown: Condition | undefined): boolean {
  return (
    own.status === shown?.status &&
    own.observedGeneration === shown.observedGeneration &&
    own.lastTransitionTime === shown.lastTransitionTime &&
    own.reason === shown.reason &&
    own.message === shown.message
  );
}

/** Conditions are merged by type, so that an old reason stays unless it is removed. */
function withEmptyFields({ type, observedGeneration, status, lastTransitionTime, reason, message }: Condition) {
  const why = { reason: reason ?? null, message: message ?? null };
  return { type, observedGeneration: observedGeneration ?? null, status, lastTransitionTime, ...why };
}
