/** Time of a node's last heartbeat, by the clock of this process. */
import type { SeenLease, SeenNode } from '../../../api/seen-objects.ts';

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

export function readyCondition({ status }: SeenNode) {
  return status.conditions?.find(({ type }) => type === 'Ready');
}

/**
 * Records a heartbeat. Clocks of machines differ, so that only their pace is trusted: the time between two reports is
 * that on the node's clock. A node that was never seen before, and one whose clock went back, count from now: no node
 * is missed directly after a restart.
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
