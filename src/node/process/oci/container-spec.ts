/** The specification of a container: its namespaces, mounts, limits of what it may do, and command. Performs nothing. */

import { type OciHook, ownMountsHook } from '../../container/hooks/own-mounts-hook.ts';
import { grantedCapabilities } from './capabilities.ts';
import type { ContainerInput } from './input.ts';
import { mountsForNode, mountsOf } from './mounts.ts';
import { processSpec } from './process-spec.ts';
import { defaultProfile } from './seccomp.ts';
import { OCI_VERSION, type OciDeviceRule, type OciLinux, type OciNamespace, type OciSpec } from './spec.ts';

export function containerSpec(input: ContainerInput): OciSpec {
  const { config, identity, machine } = input;
  return {
    ociVersion: OCI_VERSION,
    root: { path: input.root, readonly: config.security.readOnlyRoot },
    process: processSpec({ config, identity, command: identity.command, tty: config.tty, machine }),
    mounts: mountsOf(input),
    linux: linuxOf(input),
    hooks: {
      createRuntime: [networkHook(input.gate)],
      // A privileged container may cover what it likes.
      createContainer: config.security.privileged ? undefined : [ownMountsHook(input.root)],
    },
  };
}

function linuxOf(input: ContainerInput): OciLinux {
  const { config, sandbox, cgroup, hidden } = input;
  const { security } = config;
  const { user } = sandbox.namespaces;
  const mappings = user?.map(({ hostId, containerId, length }) => ({
    containerID: containerId,
    hostID: hostId,
    size: length,
  }));
  return {
    namespaces: namespacesOf(input),
    ...(mappings && { uidMappings: mappings, gidMappings: mappings }),
    cgroupsPath: cgroup,
    resources: { devices: deviceRules(input) },
    ...seccompOf(input),
    maskedPaths: [...security.maskedPaths, ...hidden],
    readonlyPaths: security.readOnlyPaths,
    // The runtime begins with the mounts of the node. Where they are slaves, nothing that is mounted can reach the node.
    rootfsPropagation: mountsForNode(config) ? 'rshared' : 'rslave',
  };
}

/** Only devices that every container has, which the runtime adds, and those of the pod. */
function deviceRules({ config, devices }: ContainerInput): OciDeviceRule[] {
  if (config.security.privileged) return [{ allow: true, access: 'rwm' }];
  return [
    { allow: false, access: 'rwm' },
    ...devices.map(({ type, major, minor }): OciDeviceRule => ({ allow: true, type, major, minor, access: 'rw' })),
  ];
}

/** The default profile holds unless a container is privileged or opts out by name. */
function seccompOf({ config, machine }: ContainerInput): Pick<OciLinux, 'seccomp'> {
  const { security } = config;
  if (security.privileged || security.seccomp?.type === 'unconfined') return {};
  return { seccomp: defaultProfile(machine.architecture, grantedCapabilities(security, machine.capabilities)) };
}

function namespacesOf({ sandbox, namespaces, config, processTarget, cgroup }: ContainerInput): OciNamespace[] {
  const { network, ipc, user } = sandbox.namespaces;
  const shared = (type: OciNamespace['type'], name: string): OciNamespace[] =>
    namespaces === undefined ? [] : [{ type, path: `${namespaces}/${name}` }];
  return [
    { type: 'mount' },
    ...(cgroup === undefined ? [] : [{ type: 'cgroup' } as const]),
    ...(user ? shared('user', 'user') : []),
    ...(network === 'pod' ? [...shared('network', 'net'), ...shared('uts', 'uts')] : []),
    ...(ipc === 'pod' ? shared('ipc', 'ipc') : []),
    ...processNamespace(config.security.pid, namespaces, processTarget),
  ];
}

function processNamespace(
  pid: ContainerInput['config']['security']['pid'],
  namespaces: string | undefined,
  target: number | undefined,
): OciNamespace[] {
  if (target !== undefined) return [{ type: 'pid', path: `/proc/${target}/ns/pid` }];
  if (pid === 'node') return [];
  return pid === 'pod' && namespaces !== undefined ? [{ type: 'pid', path: `${namespaces}/pid` }] : [{ type: 'pid' }];
}

/** A container whose supervisor was killed meanwhile neither starts nor waits for ever. */
const GATE_TIMEOUT_SECONDS = 300;

/**
 * Makes the runtime wait, when everything of the container is made, until the named pipe says `go`. The hook reads its input, the state of
 * the container, to the end: runc would pass the signal of a broken pipe on to the container.
 */
function networkHook(gate: string): OciHook {
  return {
    path: '/bin/sh',
    args: ['sh', '-c', 'read -r state; read -r go <"$1" && [ "$go" = go ]', 'sh', gate],
    env: [],
    timeout: GATE_TIMEOUT_SECONDS,
  };
}
