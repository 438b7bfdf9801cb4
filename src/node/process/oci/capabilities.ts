/** The capabilities of a container's processes. */
import type { ContainerSecurity } from '../../runtime/container-config.ts';
import type { OciCapabilities } from './spec.ts';

/** All capabilities of Linux, without their prefix. */
const NAMES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'LINUX_IMMUTABLE',
  'NET_BIND_SERVICE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'NET_RAW',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'MKNOD',
  'LEASE',
  'AUDIT_WRITE',
  'AUDIT_CONTROL',
  'SETFCAP',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
] as const;

/** The default set of container engines, without NET_RAW (forged packets) and MKNOD (device files). */
const DEFAULT = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'AUDIT_WRITE',
  'SETFCAP',
];

type Wanted = Pick<ContainerSecurity, 'privileged' | 'addCapabilities' | 'dropCapabilities'>;

/** Names without prefix, in the kernel's order. `available`: what this machine can give; all others are left out. */
export function grantedCapabilities(security: Wanted, available: ReadonlySet<string>): string[] {
  const dropped = security.dropCapabilities.map(nameOf);
  const added = security.addCapabilities.map(nameOf);
  const kept = new Set<string>(security.privileged || added.includes('ALL') ? NAMES : DEFAULT);
  if (!security.privileged) {
    if (dropped.includes('ALL')) kept.clear();
    for (const name of dropped) kept.delete(name);
    for (const name of added) kept.add(name);
  }
  return NAMES.filter((name) => kept.has(name) && available.has(name));
}

/** The sets of a process. A user who is not root has none effective, as with other runtimes. */
export function capabilitySets(granted: readonly string[], uid: number): OciCapabilities {
  const names = granted.map((name) => `CAP_${name}`);
  const own = uid === 0 ? names : [];
  return { bounding: names, effective: own, permitted: own, inheritable: [], ambient: [] };
}

/** The capabilities that a mask such as `CapBnd` in `/proc/self/status` has. */
export function capabilitiesIn(mask: bigint): Set<string> {
  return new Set(NAMES.filter((_, number) => (mask >> BigInt(number)) & 1n));
}

/** A name that Linux does not have; undefined if all are known. */
export function unknownCapability(security: Pick<ContainerSecurity, 'addCapabilities'>): string | undefined {
  const known = new Set<string>([...NAMES, 'ALL']);
  return security.addCapabilities.find((name) => !known.has(nameOf(name)));
}

function nameOf(capability: string): string {
  return capability.toUpperCase().replace(/^CAP_/, '');
}
