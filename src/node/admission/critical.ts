/** Critical pods, which a node runs before all others. */
import { MIRROR } from '../../kinds/shapes/pod/pod-annotations.ts';
import type { SeenPod } from '../pod/container-run.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const FROM_API = 'api';
export const FROM_FILE = 'file';

/** Annotations of static pods. The hash is their UID; their mirror in the API names it. */
export const CONFIG_SOURCE = 'kubernetes.io/config.source';
export const CONFIG_HASH = 'kubernetes.io/config.hash';
export const CONFIG_SEEN = 'kubernetes.io/config.seen';
export const CONFIG_MIRROR = MIRROR;

/** Reports whether the pod comes from a file on the node. */
export function isStatic({ metadata: { annotations } }: SeenPod): boolean {
  const source = annotations?.[CONFIG_SOURCE];
  return source !== undefined && source !== FROM_API;
}

/** Removes what a client may have claimed: that a pod of the API comes from a file. */
export function fromApi(pod: SeenPod): SeenPod {
  if (!isStatic(pod)) return pod;
  const { [CONFIG_SOURCE]: _, ...annotations } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** Reports whether the pod shows a static pod in the API. */
export function isMirror({ metadata: { annotations } }: SeenPod): boolean {
  return annotations?.[MIRROR] !== undefined;
}

export function isCritical(pod: SeenPod): boolean {
  return isStatic(pod) || isMirror(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Reports whether the first pod may preempt the second one. */
export function mayPreempt(pod: SeenPod, other: SeenPod): boolean {
  if (isCritical(pod) && !isCritical(other)) return true;
  const [own, its] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && its !== undefined && own > its;
}
