/** Builds the strategic merge patch that writes a pod's status. */
import { deepEqual } from '../../base/json/tree.ts';
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
  const shown = written ?? (pod.status as Partial<PodStatus>);
  const changes: Record<string, unknown> = {};
  for (const field of Object.keys(status) as (keyof PodStatus)[]) {
    if (deepEqual(status[field], shown[field])) continue;
    if (field === 'conditions') addConditions(changes, status.conditions, shown.conditions);
    else changes[field] = isMerged(field) && shown[field] ? [REPLACE, ...status[field]!] : status[field];
  }
  return { metadata: annotations ? { uid, annotations } : { uid }, status: changes };
}

const REPLACE = { $patch: 'replace' };

/** Addresses are merged by value, so that old ones stay unless the list is replaced. */
const isMerged = (field: keyof PodStatus) => field === 'hostIPs' || field === 'podIPs';

function addConditions(
  changes: Record<string, unknown>,
  conditions: readonly Condition[],
  shown: readonly Condition[] = [],
): void {
  const changed = conditions.filter((each) => !deepEqual(each, shown.find(sameType(each)))).map(withEmptyReason);
  const ended = shown.filter((each) => PASSING_CONDITIONS.includes(each.type) && !conditions.some(sameType(each)));
  if (changed.length === 0 && ended.length === 0) return;
  changes.conditions = [...changed, ...ended.map(({ type }) => ({ $patch: 'delete', type }))];
  changes['$setElementOrder/conditions'] = conditions.map(({ type }) => ({ type }));
}

const sameType =
  ({ type }: Condition) =>
  (other: Condition) =>
    other.type === type;

/** Conditions are merged by type, so that an old reason stays unless it is removed. */
function withEmptyReason({ type, observedGeneration, status, lastTransitionTime, reason, message }: Condition) {
  const why = { reason: reason ?? null, message: message ?? null };
  return { type, observedGeneration, status, lastTransitionTime, ...why };
}
