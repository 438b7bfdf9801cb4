/** Critical pods, which a node runs before all others. */
import type { SeenPod } from '../pod/container-run.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const SOURCE = 'kubernetes.io/config.source';
const MIRROR = 'kubernetes.io/config.mirror';
const FROM_API = 'api';

/** Whether it comes from a file on the node. */
export function isStatic({ metadata: { annotations } }: SeenPod): boolean {
  const source = annotations?.[SOURCE];
  return source !== undefined && source !== FROM_API;
}

export function isCritical(pod: SeenPod): boolean {
  const isMirror = pod.metadata.annotations?.[MIRROR] !== undefined;
  return isStatic(pod) || isMirror || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the first pod may take the place of the second one. */
export function mayPreempt(pod: SeenPod, other: SeenPod): boolean {
  if (isCritical(pod) && !isCritical(other)) return true;
  const [own, its] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && its !== undefined && own > its;
}
