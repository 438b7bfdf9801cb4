import { podNetworkOf } from '../kinds/groups/core/node/pod-network.ts';
import type { Node } from './objects.ts';

/** Reports whether a field has changed that scheduling reads: most updates of a node are only heartbeats. */
export function affectsScheduling(now: Node, before: Node): boolean {
  return (
    (now.spec.unschedulable ?? false) !== (before.spec.unschedulable ?? false) ||
    podNetworkOf(now) !== podNetworkOf(before) ||
    differ(now.metadata.labels, before.metadata.labels) ||
    differ(now.spec.taints, before.spec.taints) ||
    differ(now.status.allocatable, before.status.allocatable)
  );
}

function differ(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}
