/** The specification of the container that holds the namespaces of a pod. It runs nothing but a program that waits. */
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { capabilitySets } from './capabilities.ts';
import type { OciMachine } from './input.ts';
import { defaultProfile } from './seccomp.ts';
import { OCI_VERSION, type OciNamespace, type OciSpec } from './spec.ts';

export interface SandboxInput {
  readonly config: SandboxConfig;
  /** The directory of the program that waits. */
  readonly root: string;
  readonly cgroup: string | undefined;
  readonly machine: OciMachine;
}

export const PAUSE_PROGRAM = '/pause';
const UNPRIVILEGED = 65_535;
const LAST_ID = 65_535;

/** Undefined if the sandbox has no namespaces of its own. */
export function sandboxSpec({ config, root, cgroup, machine }: SandboxInput): OciSpec | undefined {
  const { network, ipc, pid, user } = config.namespaces;
  const own: OciNamespace[] = [
    ...(user ? [{ type: 'user' } as const] : []),
    ...(network === 'pod' ? [{ type: 'network' } as const, { type: 'uts' } as const] : []),
    ...(ipc === 'pod' ? [{ type: 'ipc' } as const] : []),
  ];
  if (own.length === 0 && pid !== 'pod') return undefined;
  const mappings = user?.map(({ hostId, containerId, length }) => ({
    containerID: containerId,
    hostID: hostId,
    size: length,
  }));
  return {
    ociVersion: OCI_VERSION,
    hostname: network === 'pod' ? config.hostname : undefined,
    root: { path: root, readonly: true },
    process: {
      terminal: false,
      user: { uid: UNPRIVILEGED, gid: UNPRIVILEGED, additionalGids: [] },
      args: [PAUSE_PROGRAM],
      env: [],
      cwd: '/',
      capabilities: capabilitySets([], UNPRIVILEGED),
      noNewPrivileges: true,
    },
    // The runtime itself needs both.
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'mode=755', 'size=64k'] },
    ],
    linux: {
      namespaces: [{ type: 'mount' }, ...own, ...(pid === 'node' ? [] : [{ type: 'pid' } as const])],
      ...(mappings && { uidMappings: mappings, gidMappings: mappings }),
      cgroupsPath: cgroup,
      resources: { devices: [{ allow: false, access: 'rwm' }] },
      sysctl: { ...(network === 'pod' && pingForEverybody()), ...config.sysctls },
      // Only processes of its own namespace could reach it; the filter takes a quarter of its start.
      seccomp: pid === 'pod' ? defaultProfile(machine.architecture, []) : undefined,
    },
  };
}

/** Programs may send echo requests without the right to forge packets. */
function pingForEverybody(): Record<string, string> {
  return { 'net.ipv4.ping_group_range': `0 ${LAST_ID}` };
}
