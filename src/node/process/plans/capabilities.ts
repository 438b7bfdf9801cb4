/** The capabilities that a container has, as numbers of Linux. */
import type { ContainerSecurity } from '../../runtime/container-config.ts';

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

/** What containers have unless they say otherwise, as with other runtimes. */
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
  'NET_RAW',
  'SYS_CHROOT',
  'MKNOD',
  'AUDIT_WRITE',
  'SETFCAP',
];

/** Returns the numbers of the capabilities that are taken away. */
export function droppedCapabilities(security: ContainerSecurity): number[] {
  if (security.privileged) return [];
  const kept = new Set<string>(DEFAULT);
  const dropped = security.dropCapabilities.map(nameOf);
  const added = security.addCapabilities.map(nameOf);
  if (added.includes('ALL')) for (const name of NAMES) kept.add(name);
  if (dropped.includes('ALL')) kept.clear();
  for (const name of dropped) kept.delete(name);
  for (const name of added) kept.add(name);
  return NAMES.flatMap((name, number) => (kept.has(name) ? [] : [number]));
}

/** A name that Linux does not have; undefined if all are known. */
export function unknownCapability(security: Pick<ContainerSecurity, 'addCapabilities'>): string | undefined {
  const known = new Set<string>([...NAMES, 'ALL']);
  return security.addCapabilities.find((name) => !known.has(nameOf(name)));
}

function nameOf(capability: string): string {
  return capability.toUpperCase().replace(/^CAP_/, '');
}
