import type { Node } from './objects.ts';

/** Whether something has changed that scheduling looks at: most updates of a node only say that it is alive. */
export function mattersToPods(now: Node, before: Node): boolean {
  return (
    (now.spec.unschedulable ?? false) !== (before.spec.unschedulable ?? false) ||
    differ(now.metadata.labels, before.metadata.labels) ||
    differ(now.spec.taints, before.spec.taints) ||
    differ(now.status.allocatable, before.status.allocatable)
  );
}

function differ(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}
