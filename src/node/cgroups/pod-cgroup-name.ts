/** The name of the cgroup around the containers of a pod. Monitoring programs find the pod of a cgroup by its UID. */
import type { SandboxConfig } from '../runtime/sandbox-config.ts';

/** Every sandbox has its own, so that the removal of an earlier one does not meet a later one. A static pod may choose its UID. */
export function podCgroupName({ pod, attempt }: Pick<SandboxConfig, 'pod' | 'attempt'>): string {
  return `pod${encodeURIComponent(pod.uid)}${attempt > 0 ? `-${attempt}` : ''}`;
}
