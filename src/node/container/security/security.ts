/** Security settings for the processes of a container: those of the container over those of its pod. */

import { join } from 'node:path';
import type { SeenContainer, SeenPod } from '../../pod/container-run.ts';
import type { AppArmor, ContainerSecurity, Seccomp, SelinuxOptions } from '../../runtime/container-config.ts';
import type { SandboxSecurity } from '../../runtime/sandbox-config.ts';
import { ContainerConfigError } from '../inputs.ts';

/** The user that the image declares: a number, or a name. Undefined: root. */
export type ImageUser = number | string | undefined;

export interface SecurityOptions {
  readonly imageUser: ImageUser;
  readonly seccompDirectory: string;
  /** The running container whose processes an ephemeral container sees. */
  readonly targetContainerId: string | undefined;
}

/** Throws a ContainerConfigError when the container would run as root and must not. */
export function containerSecurity(pod: SeenPod, container: SeenContainer, options: SecurityOptions): ContainerSecurity {
  const ofPod = pod.spec.securityContext;
  const own = container.securityContext;
  const runAsUser = own?.runAsUser ?? ofPod?.runAsUser;
  if (own?.runAsNonRoot ?? ofPod?.runAsNonRoot) requireNonRoot(pod, container, runAsUser, options.imageUser);
  const isUnmasked = own?.procMount === 'Unmasked';
  const { imageUser } = options;
  return {
    privileged: own?.privileged ?? false,
    runAsUser: runAsUser ?? (typeof imageUser === 'number' ? imageUser : undefined),
    runAsUsername: runAsUser === undefined && typeof imageUser === 'string' ? imageUser : undefined,
    runAsGroup: own?.runAsGroup ?? ofPod?.runAsGroup,
    supplementalGroups: supplementalGroups(pod),
    mergesImageGroups: ofPod?.supplementalGroupsPolicy !== 'Strict',
    addCapabilities: own?.capabilities?.add ?? [],
    dropCapabilities: own?.capabilities?.drop ?? [],
    readOnlyRoot: own?.readOnlyRootFilesystem ?? false,
    noNewPrivileges: own?.allowPrivilegeEscalation === false,
    seccomp: seccompOf(pod, container, options.seccompDirectory),
    appArmor: appArmorOf(pod, container),
    selinux: selinuxOptions(own?.seLinuxOptions ?? ofPod?.seLinuxOptions),
    maskedPaths: isUnmasked ? [] : MASKED_PATHS,
    readOnlyPaths: isUnmasked ? [] : READ_ONLY_PATHS,
    pid: pidNamespace(pod, options.targetContainerId),
  };
}

/** The sandbox itself runs nothing but a pause, so that it is always confined. */
export function sandboxSecurity(pod: SeenPod): SandboxSecurity {
  const { securityContext: context, containers, initContainers = [] } = pod.spec;
  return {
    privileged: [...containers, ...initContainers].some((each) => each.securityContext?.privileged),
    runAsUser: context?.runAsUser,
    runAsGroup: context?.runAsGroup,
    supplementalGroups: supplementalGroups(pod),
    seccomp: { type: 'runtime-default' },
    selinux: selinuxOptions(context?.seLinuxOptions),
  };
}

export function podPidNamespace({ spec }: SeenPod): 'container' | 'pod' | 'node' {
  if (spec.hostPID) return 'node';
  return spec.shareProcessNamespace ? 'pod' : 'container';
}

function pidNamespace(pod: SeenPod, containerId: string | undefined): ContainerSecurity['pid'] {
  const ofPod = podPidNamespace(pod);
  return ofPod === 'container' && containerId !== undefined ? { containerId } : ofPod;
}

function supplementalGroups({ spec: { securityContext: context } }: SeenPod): number[] {
  const groups = context?.supplementalGroups ?? [];
  return context?.fsGroup === undefined ? [...groups] : [context.fsGroup, ...groups];
}

function selinuxOptions(options: Partial<SelinuxOptions> | undefined): SelinuxOptions | undefined {
  if (!options) return undefined;
  const { user = '', role = '', type = '', level = '' } = options;
  return { user, role, type, level };
}

function requireNonRoot(pod: SeenPod, { name }: SeenContainer, runAsUser: number | undefined, imageUser: ImageUser) {
  const where = `(pod: "${podLabel(pod)}", container: ${name})`;
  if (runAsUser !== undefined) {
    if (runAsUser !== 0) return;
    throw new ContainerConfigError(`container's runAsUser breaks non-root policy ${where}`);
  }
  if (typeof imageUser === 'string') {
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has non-numeric user (${imageUser}), cannot verify user is non-root ${where}`,
    );
  }
  if ((imageUser ?? 0) === 0) {
    throw new ContainerConfigError(`container has runAsNonRoot and image will run as root ${where}`);
  }
}

/** How messages name a pod. */
function podLabel({ metadata: { name, namespace, uid } }: SeenPod): string {
  return `${name}_${namespace}(${uid})`;
}

/** Paths in /proc and /sys that a container does not see, or cannot write: the defaults of container runtimes. */
export const MASKED_PATHS: readonly string[] = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];

export const READ_ONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
];

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Paths of Localhost profiles are relative to `directory`. */
function seccompOf(pod: SeenPod, container: SeenContainer, directory: string): Seccomp {
  const profile = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile;
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { type: 'runtime-default' };
    case 'Localhost':
      if (!profile.localhostProfile) {
        throw new ContainerConfigError('localhostProfile must be set if seccompProfile type is Localhost.');
      }
      return { type: 'localhost', file: join(directory, profile.localhostProfile) };
    case 'Unconfined':
      return { type: 'unconfined' };
    default:
      return { type: 'unset' };
  }
}

/** Undefined: the runtime decides. */
function appArmorOf(pod: SeenPod, container: SeenContainer): AppArmor | undefined {
  const own = container.securityContext?.appArmorProfile;
  const annotation = own ? undefined : pod.metadata.annotations?.[APPARMOR_ANNOTATION + container.name];
  if (annotation !== undefined) return annotatedAppArmor(annotation);
  const profile = own ?? pod.spec.securityContext?.appArmorProfile;
  if (!profile) return undefined;
  switch (profile.type) {
    case 'RuntimeDefault':
      return { type: 'runtime-default' };
    case 'Unconfined':
      return { type: 'unconfined' };
    case 'Localhost':
      if (!profile.localhostProfile) throw new ContainerConfigError('missing localhost apparmor profile name');
      return { type: 'localhost', profile: profile.localhostProfile };
    default:
      throw new ContainerConfigError(`unknown apparmor profile type: "${profile.type}"`);
  }
}

function annotatedAppArmor(annotation: string): AppArmor | undefined {
  if (annotation === 'runtime/default') return { type: 'runtime-default' };
  if (annotation === 'unconfined') return { type: 'unconfined' };
  const profile = /^localhost\/(.+)$/.exec(annotation)?.[1];
  return profile === undefined ? undefined : { type: 'localhost', profile };
}
