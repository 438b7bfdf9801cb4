/** Time of a node's last heartbeat, by the clock of this process. */

import type { SeenLease, SeenNode } from '../../../api/seen-objects.ts';
import { conditionOf } from '../../shared/conditions.ts';

/** Grace period for a node without a heartbeat. */
const GRACE_MS = 50_000;
/** Grace period until the first heartbeat of a new node. */
const STARTUP_GRACE_MS = 60_000;

/** Times in milliseconds. */
export interface Heartbeat {
  /** The time that the node reported; 0 before its first report. */
  readonly reportedAt: number;
  /** Time of the observation, by this clock. */
  readonly observedAt: number;
}

export const readyCondition = (node: SeenNode) => conditionOf(node, 'Ready');

/**
 * Records a heartbeat. Only the pace of a node's clock is trusted: the time between two reports. A node that is new, or
 * whose clock went back, counts from now.
 */
export function recordHeartbeat(
  before: Heartbeat | undefined,
  { node, lease, now }: { readonly node: SeenNode; readonly lease: SeenLease | undefined; readonly now: number },
): Heartbeat {
  const reportedAt = Math.max(timeOf(lease?.spec.renewTime), timeOf(readyCondition(node)?.lastHeartbeatTime));
  if (before?.reportedAt === reportedAt) return before;
  if (!before || before.reportedAt === 0 || reportedAt < before.reportedAt) return { reportedAt, observedAt: now };
  return { reportedAt, observedAt: Math.min(now, before.observedAt + reportedAt - before.reportedAt) };
}

/** Returns when the node counts as lost. A longer lease extends it. */
export function lostFrom(heartbeat: Heartbeat, node: SeenNode, lease: SeenLease | undefined): number {
  if (!readyCondition(node))
    return Math.max(heartbeat.observedAt, timeOf(node.metadata.creationTimestamp)) + STARTUP_GRACE_MS;
  return heartbeat.observedAt + Math.max(GRACE_MS, (lease?.spec.leaseDurationSeconds ?? 0) * 1000);
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);

type Taint = NonNullable<SeenNode['spec']['taints']>[number];

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** NoSchedule taints by the type and status of a condition. */
const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
};

const OWN_NO_SCHEDULE = new Set([UNSCHEDULABLE, ...Object.values(BY_CONDITION).flatMap(Object.values)]);
const OWN_NO_EXECUTE = new Set([NOT_READY, UNREACHABLE]);

/** Returns the NoExecute taint of an unhealthy node; undefined for a healthy one. */
export function evictingTaint(node: SeenNode): string | undefined {
  const ready = readyCondition(node);
  return ready && keyOf(ready);
}

/** Reports whether the node has either of the NoExecute taints. */
export function isEvicting({ spec }: SeenNode): boolean {
  return spec.taints?.some(isOwnNoExecute) ?? false;
}

/** Returns the desired taints; `evicting` is the NoExecute taint, if there is to be one. */
export function taintsOf(node: SeenNode, evicting: string | undefined, now: string): readonly Taint[] {
  const present = node.spec.taints ?? [];
  const wanted = noScheduleKeys(node);
  const kept = present.filter(
    (taint) =>
      !(isOwnNoExecute(taint) && taint.key !== evicting) &&
      !(taint.effect === 'NoSchedule' && OWN_NO_SCHEDULE.has(taint.key) && !wanted.has(taint.key)),
  );
  const has = (key: string, effect: string) => kept.some((taint) => taint.key === key && taint.effect === effect);
  const added = [...wanted].filter((key) => !has(key, 'NoSchedule'));
  return [
    ...kept,
    ...added.map((key) => ({ key, effect: 'NoSchedule', timeAdded: now })),
    ...(evicting && !has(evicting, 'NoExecute') ? [{ key: evicting, effect: 'NoExecute', timeAdded: now }] : []),
  ];
}

const isOwnNoExecute = ({ key, effect }: Taint) => effect === 'NoExecute' && OWN_NO_EXECUTE.has(key);

function noScheduleKeys({ spec, status }: SeenNode): ReadonlySet<string> {
  const keys = (status.conditions ?? []).map(keyOf);
  return new Set([...keys, spec.unschedulable ? UNSCHEDULABLE : undefined].filter((key) => key !== undefined));
}

/** The types of conditions are the node's to choose, and may be named like properties that every object has. */
function keyOf({ type, status }: { readonly type: string; readonly status: string }): string | undefined {
  const byStatus = Object.hasOwn(BY_CONDITION, type) ? BY_CONDITION[type]! : {};
  return Object.hasOwn(byStatus, status) ? byStatus[status] : undefined;
}
