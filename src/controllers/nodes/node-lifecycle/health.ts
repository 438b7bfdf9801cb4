/** When a node was last heard of, by the clock of this process. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';

type SeenNode = DeepReadonly<Node>;
type SeenLease = DeepReadonly<Lease>;

/** How long a node that has been heard of may be silent, in milliseconds. */
const GRACE = 50_000;
/** How long a new one may take until it is heard of first. */
const STARTUP_GRACE = 60_000;

/** All times in milliseconds. */
export interface Heartbeat {
  /** What the node's own clock said in its last sign of life; 0 when there was none. */
  readonly said: number;
  /** When that was, by this clock. */
  readonly heard: number;
}

export function readyCondition({ status }: SeenNode) {
  return status.conditions?.find(({ type }) => type === 'Ready');
}

/**
 * The clocks of machines differ, so only their pace is trusted: so much time passed between two signs as the node says. What
 * was never heard of before, and a clock that went back, count from now: after a restart nobody is missed at once.
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

/** From when on the node is missed. A lease that lasts longer is waited for. */
export function missedFrom(heartbeat: Heartbeat, node: SeenNode, lease: SeenLease | undefined): number {
  if (!readyCondition(node)) return Math.max(heartbeat.heard, timeOf(node.metadata.creationTimestamp)) + STARTUP_GRACE;
  return heartbeat.heard + Math.max(GRACE, (lease?.spec.leaseDurationSeconds ?? 0) * 1000);
}

const timeOf = (time: string | undefined) => (time ? Date.parse(time) : 0);
