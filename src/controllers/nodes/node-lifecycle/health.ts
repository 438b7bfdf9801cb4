/** When a node last gave a sign of life, by the clock of this process. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';

type SeenNode = DeepReadonly<Node>;
type SeenLease = DeepReadonly<Lease>;

/** How long a node may be silent. */
const GRACE = 50_000;
/** How long a new node may take until its first sign of life. */
const STARTUP_GRACE = 60_000;

/** Times in milliseconds. */
export interface Heartbeat {
  /** The time that the node reported; 0 before its first report. */
  readonly said: number;
  /** When that was, by this clock. */
  readonly heard: number;
}

export function readyCondition({ status }: SeenNode) {
  return status.conditions?.find(({ type }) => type === 'Ready');
}

/**
 * Clocks of machines differ, so that only their pace is trusted: the time between two reports is what the node says. A node
 * that was never seen before, and one whose clock went back, count from now: after a restart no node is missed at once.
 */
export function listen(
  before: Heartbeat | undefined,
  { node, lease, now }: { readonly node: SeenNode; readonly lease: SeenLease | undefined; readonly now: number },
): Heartbeat {
  const said = Math.max(timeOf(lease?.spec.renewTime), timeOf(readyCondition(node)?.lastHeartbeatTime));
  if (before?.said === said) return before;
  if (!before || before.said === 0 || said < before.said) return { said, heard: now };
  return { said, heard: Math.min(now, before.heard + said - before.said) };
}

/** Returns when the node counts as lost. A longer lease extends it. */
export function missedFrom(heartbeat: Heartbeat, node: SeenNode, lease: SeenLease | undefined): number {
  if (!readyCondition(node)) return Math.max(heartbeat.heard, timeOf(node.metadata.creationTimestamp)) + STARTUP_GRACE;
  return heartbeat.heard + Math.max(GRACE, (lease?.spec.leaseDurationSeconds ?? 0) * 1000);
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);
