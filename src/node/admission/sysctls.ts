/** Kernel parameters that a pod may set: those that concern nothing but its own namespaces. */
import { withDots } from '../container/security/sysctls.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Rejection } from './rejection.ts';

type Namespace = 'ipc' | 'net' | 'user';

/** Safe parameters, with the kernel since which they are safe. */
const SAFE: ReadonlyMap<string, string> = new Map([
  ['kernel.shm_rmid_forced', '0'],
  ['net.ipv4.ip_local_port_range', '0'],
  ['net.ipv4.tcp_syncookies', '0'],
  ['net.ipv4.ping_group_range', '0'],
  ['net.ipv4.ip_unprivileged_port_start', '0'],
  ['net.ipv4.ip_local_reserved_ports', '3.16'],
  ['net.ipv4.tcp_keepalive_time', '4.5'],
  ['net.ipv4.tcp_fin_timeout', '4.6'],
  ['net.ipv4.tcp_keepalive_intvl', '4.5'],
  ['net.ipv4.tcp_keepalive_probes', '4.5'],
  ['net.ipv4.tcp_rmem', '4.15'],
  ['net.ipv4.tcp_wmem', '4.15'],
  ['net.ipv4.tcp_slow_start_after_idle', '4.15'],
  ['net.ipv4.tcp_notsent_lowat', '4.6'],
]);

const NAMES: ReadonlyMap<string, Namespace> = new Map([['kernel.sem', 'ipc']]);
const PREFIXES: readonly (readonly [string, Namespace])[] = [
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
  ['net.', 'net'],
  ['user.', 'user'],
];

export interface SysctlSettings {
  /** Names, or beginnings of names with `*` at the end, that pods may set although they are not safe. */
  readonly allowedUnsafeSysctls: readonly string[];
}

export function sysctlRejection(pod: SeenPod, kernel: string, settings: SysctlSettings): Rejection | undefined {
  for (const { name } of pod.spec.securityContext?.sysctls ?? []) {
    const problem = problemWith(withDots(name), pod, kernel, settings);
    if (problem) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
  }
  return undefined;
}

function problemWith(name: string, { spec }: SeenPod, kernel: string, { allowedUnsafeSysctls }: SysctlSettings) {
  const since = SAFE.get(name);
  const isSafe = since !== undefined && isAtLeast(kernel, since);
  if (!isSafe && !allowedUnsafeSysctls.some((pattern) => matches(name, withDots(pattern)))) {
    return `"${name}" not allowlisted`;
  }
  const namespace = namespaceOf(name);
  const isShared =
    (namespace === 'net' && spec.hostNetwork) ||
    (namespace === 'ipc' && spec.hostIPC) ||
    (namespace === 'user' && spec.hostUsers !== false);
  return isShared ? `"${name}" not allowed with host ${namespace} enabled` : undefined;
}

function namespaceOf(name: string): Namespace | undefined {
  return NAMES.get(name) ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** A kernel without a version is a new one. */
function isAtLeast(kernel: string, wanted: string): boolean {
  const [major, minor] = numbers(kernel);
  const [wantedMajor = 0, wantedMinor = 0] = numbers(wanted);
  if (major === undefined) return true;
  return major > wantedMajor || (major === wantedMajor && (minor ?? 0) >= wantedMinor);
}

const numbers = (version: string) =>
  /^(\d+)(?:\.(\d+))?/
    .exec(version)
    ?.slice(1)
    .map((part) => Number(part ?? 0)) ?? [];
