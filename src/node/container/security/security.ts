/** Security settings for the processes of a container: those of the container over those of its pod. */
import type { SeenContainer, SeenPod } from '../../pod/container-run.ts';
import type { ContainerSecurity, SelinuxOptions } from '../../runtime/container-config.ts';
import type { SandboxSecurity } from '../../runtime/sandbox-config.ts';
import { ContainerConfigError } from '../inputs.ts';
import { MASKED_PATHS, READ_ONLY_PATHS } from './proc-paths.ts';
import { appArmorOf, seccompOf } from './profiles.ts';

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
