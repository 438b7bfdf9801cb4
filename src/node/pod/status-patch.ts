/** Builds the strategic merge patch that writes a pod's status. */
import { deepEqual } from '../../base/json/tree.ts';
import { restartAnnotations } from '../../kinds/groups/core/pod/restart-counts.ts';
import type { Condition } from './conditions.ts';
import type { SeenPod } from './container-run.ts';
import type { podStatus } from './pod-status.ts';

export type PodStatus = ReturnType<typeof podStatus>;

export interface StatusChange {
  /** The pod in the API. */
  readonly pod: SeenPod;
  readonly status: PodStatus;
  /** What was written last; undefined: what the pod shows. */
  readonly written: PodStatus | undefined;
  /** Names of containers with their restarts, not capped. */
  readonly restarts: Parameters<typeof restartAnnotations>[0];
}

/** Conditions of a resize are there only while it is not done. */
const PASSING_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

export function statusPatch({ pod, status, written, restarts }: StatusChange): object {
  const annotations = restartAnnotations(restarts);
  const { conditions, hostIPs, podIPs } = status;
  const before = written ?? (pod.status as Partial<PodStatus>);
  return {
    metadata: { uid: pod.metadata.uid, ...(annotations ? { annotations } : {}) },
    status: {
      ...status,
      hostIPs: replaced(before.hostIPs, hostIPs),
      ...(podIPs ? { podIPs: replaced(before.podIPs, podIPs) } : {}),
      conditions: [...conditions.map(withEmptyReason), ...ended(before.conditions ?? [], conditions)],
      '$setElementOrder/conditions': conditions.map(({ type }) => ({ type })),
    },
  };
}

/** Conditions are merged by type, so that an old reason stays unless it is removed. */
const withEmptyReason = (condition: Condition) => ({ reason: null, message: null, ...condition });

/** Addresses are merged by value, so that old ones stay unless the list is replaced. */
function replaced<T>(
  before: readonly T[] | undefined,
  list: readonly T[],
): readonly (T | { readonly $patch: 'replace' })[] {
  return before === undefined || deepEqual(before, list) ? list : [{ $patch: 'replace' as const }, ...list];
}

function ended(before: readonly Condition[], conditions: readonly Condition[]) {
  return before
    .filter(({ type }) => PASSING_CONDITIONS.includes(type) && !conditions.some((each) => each.type === type))
    .map(({ type }) => ({ $patch: 'delete', type }));
}
