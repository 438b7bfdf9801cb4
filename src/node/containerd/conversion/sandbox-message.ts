import type { Encodable } from '../../../protocols/protobuf/message.ts';
import type { ContainerResources, Seccomp } from '../../runtime/container-config.ts';
import type { PodNamespaces, SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { SandboxMessage } from '../messages/sandbox.ts';
import type { NamespaceOption, Resources, SecurityProfile } from '../messages/shared.ts';
import { CGROUP_ANNOTATION, OWNER_LABEL } from './labels.ts';

export interface SandboxOwner {
  /** The node it belongs to. */
  readonly owner: string;
  /** The cgroup around its containers; undefined: the runtime's choice. */
  readonly cgroup: string | undefined;
}

/** A sandbox as CRI describes it. */
export function sandboxMessage(
  config: SandboxConfig,
  { owner, cgroup }: SandboxOwner,
): Encodable<typeof SandboxMessage> {
  const { pod, security, namespaces } = config;
  return {
    metadata: { ...pod, attempt: config.attempt },
    // On the node's network, the name is the node's.
    hostname: namespaces.network === 'node' ? '' : config.hostname,
    logDirectory: config.logDirectory,
    dns: config.dns,
    ports: config.ports,
    labels: { ...config.labels, [OWNER_LABEL]: owner },
    annotations: { ...config.annotations, ...(cgroup && { [CGROUP_ANNOTATION]: cgroup }) },
    linux: {
      cgroupParent: cgroup,
      sysctls: config.sysctls,
      overhead: config.overhead && resourcesMessage(config.overhead),
      resources: config.resources && resourcesMessage(config.resources),
      security: {
        namespaces: namespacesMessage(namespaces, namespaces.pid),
        selinux: security.selinux,
        runAsUser: security.runAsUser,
        runAsGroup: security.runAsGroup,
        supplementalGroups: security.supplementalGroups,
        privileged: security.privileged,
        seccomp: seccompMessage(security.seccomp),
      },
    },
  };
}

export function namespacesMessage(
  { network, ipc, user }: PodNamespaces,
  pid: 'container' | 'pod' | 'node',
): Encodable<typeof NamespaceOption> {
  return { network, pid, ipc, user: user && { mode: 'pod', uids: user, gids: user } };
}

/** A missing profile means none: only CRI's absent message would let the runtime choose. */
export function seccompMessage(seccomp: Seccomp | undefined): Encodable<typeof SecurityProfile> {
  if (seccomp?.type === 'localhost') return { type: 'localhost', localhost: seccomp.file };
  return { type: seccomp?.type === 'runtime-default' ? 'runtime-default' : 'unconfined' };
}

export function resourcesMessage(resources: ContainerResources): Encodable<typeof Resources> {
  return resources;
}
