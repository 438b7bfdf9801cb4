import type { Encodable } from '../../../protocols/protobuf/message.ts';
import type { AppArmor, ContainerConfig, ContainerSecurity, Mount } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { ContainerMessage } from '../messages/container.ts';
import type { NamespaceOption, SecurityProfile } from '../messages/shared.ts';
import { SIGNALS } from '../messages/signals.ts';
import { IMAGE_ANNOTATION, OWNER_LABEL, SANDBOX_ANNOTATION } from './labels.ts';
import { namespacesMessage, resourcesMessage, seccompMessage } from './sandbox-message.ts';

type Encoded = Encodable<typeof ContainerMessage>;
type MountMessage = NonNullable<Encoded['mounts']>[number];
type SecurityMessage = NonNullable<NonNullable<Encoded['linux']>['security']>;

interface Surroundings {
  readonly sandbox: SandboxConfig;
  readonly sandboxId: string;
  /** The node that the container belongs to. */
  readonly owner: string;
}

/** A container as CRI describes it. */
export function containerMessage(config: ContainerConfig, { sandbox, sandboxId, owner }: Surroundings): Encoded {
  return {
    metadata: { name: config.name, attempt: config.attempt },
    image: { image: config.imageId, userSpecifiedImage: config.image },
    command: config.command,
    args: config.args,
    workingDirectory: config.workingDirectory,
    env: config.env.map(({ name, value }) => ({ key: name, value: Buffer.from(value) })),
    mounts: config.mounts.map(mountMessage),
    devices: config.devices,
    labels: { ...config.labels, [OWNER_LABEL]: owner },
    annotations: { ...config.annotations, [IMAGE_ANNOTATION]: config.image, [SANDBOX_ANNOTATION]: sandboxId },
    logPath: config.logPath,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    tty: config.tty,
    linux: {
      resources: resourcesMessage(config.resources),
      security: securityMessage(config.security, sandbox),
    },
    stopSignal: config.stopSignal === undefined || !SIGNALS.includes(config.stopSignal) ? '' : config.stopSignal,
  };
}

function mountMessage(mount: Mount): MountMessage {
  const { containerPath, readOnly, recursiveReadOnly, selinuxRelabel, propagation, idMappings, image } = mount;
  return {
    containerPath,
    hostPath: mount.hostPath,
    readOnly,
    recursiveReadOnly,
    selinuxRelabel,
    propagation,
    uids: idMappings?.uids,
    gids: idMappings?.gids,
    image: image && { image: image.id },
    imageSubPath: image?.subPath,
  };
}

function securityMessage(security: ContainerSecurity, sandbox: SandboxConfig): SecurityMessage {
  return {
    capabilities: { add: security.addCapabilities, drop: security.dropCapabilities },
    privileged: security.privileged,
    namespaces: containerNamespaces(security.pid, sandbox),
    selinux: security.selinux,
    runAsUser: security.runAsUser,
    // CRI accepts one of the two.
    runAsUsername: security.runAsUser === undefined ? security.runAsUsername : undefined,
    runAsGroup: security.runAsGroup,
    readOnlyRoot: security.readOnlyRoot,
    supplementalGroups: security.supplementalGroups,
    supplementalGroupsPolicy: security.mergesImageGroups ? 'merge' : 'strict',
    noNewPrivileges: security.noNewPrivileges,
    maskedPaths: security.maskedPaths,
    readOnlyPaths: security.readOnlyPaths,
    seccomp: seccompMessage(security.seccomp),
    appArmor: appArmorMessage(security.appArmor),
  };
}

function containerNamespaces(
  pid: ContainerSecurity['pid'],
  { namespaces }: SandboxConfig,
): Encodable<typeof NamespaceOption> {
  if (typeof pid === 'string') return namespacesMessage(namespaces, pid);
  return { ...namespacesMessage(namespaces, 'container'), pid: 'target', targetId: pid.containerId };
}

/** Returns the profile. Without one, the runtime's default applies if the machine has AppArmor. */
function appArmorMessage(appArmor: AppArmor | undefined): Encodable<typeof SecurityProfile> | undefined {
  if (appArmor?.type === 'localhost') return { type: 'localhost', localhost: appArmor.profile };
  return appArmor && { type: appArmor.type };
}
