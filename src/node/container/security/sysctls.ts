/** Kernel parameters that a pod sets in its own namespaces. */
import type { SeenPod } from '../../pod/container-run.ts';

/** Safe parameters, which influence no other pod, with the kernel version from which they belong to a namespace. */
const SAFE: Readonly<Record<string, string>> = {
  'kernel.shm_rmid_forced': '',
  'net.ipv4.ip_local_port_range': '',
  'net.ipv4.tcp_syncookies': '',
  'net.ipv4.ping_group_range': '',
  'net.ipv4.ip_unprivileged_port_start': '',
  'net.ipv4.ip_local_reserved_ports': '3.16',
  'net.ipv4.tcp_keepalive_time': '4.5',
  'net.ipv4.tcp_fin_timeout': '4.6',
  'net.ipv4.tcp_keepalive_intvl': '4.5',
  'net.ipv4.tcp_keepalive_probes': '4.5',
  'net.ipv4.tcp_rmem': '4.15',
  'net.ipv4.tcp_wmem': '4.15',
  'net.ipv4.tcp_slow_start_after_idle': '4.15',
  'net.ipv4.tcp_notsent_lowat': '4.6',
};

/** Returns the kernel parameters of a pod by name, with dots. */
export function sysctlsOf({ spec }: SeenPod): Record<string, string> {
  return Object.fromEntries((spec.securityContext?.sysctls ?? []).map(({ name, value }) => [withDots(name), value]));
}

/**
 * Why the node does not admit the pod because of its sysctls, which is the message of the reason `SysctlForbidden`.
 * `allowedUnsafe` are names, or prefixes that end in `*`, that the operator allows beyond the safe ones.
 */
export function forbiddenSysctl(
  { spec }: SeenPod,
  kernelVersion: string,
  allowedUnsafe: readonly string[] = [],
): string | undefined {
  for (const { name: written } of spec.securityContext?.sysctls ?? []) {
    const name = withDots(written);
    if (!isSafe(name, kernelVersion) && !allowedUnsafe.some((pattern) => matches(name, pattern))) {
      return `forbidden sysctl: "${name}" not allowlisted`;
    }
    const namespace = sharedNamespace(name, spec);
    if (namespace) return `forbidden sysctl: "${name}" not allowed with host ${namespace} enabled`;
  }
  return undefined;
}

function isSafe(name: string, kernelVersion: string): boolean {
  const since = Object.hasOwn(SAFE, name) ? SAFE[name] : undefined;
  return since !== undefined && (since === '' || isAtLeast(kernelVersion, since));
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = numbers(version);
  const [leastMajor = 0, leastMinor = 0] = numbers(least);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

const numbers = (version: string): number[] =>
  version
    .split('.')
    .slice(0, 2)
    .map((part) => Number.parseInt(part, 10));

const IPC = /^(?:kernel\.(?:shm|msg)|kernel\.sem$|fs\.mqueue\.)/;

/** The namespace of the node that the parameter would be set in. */
function sharedNamespace(name: string, { hostNetwork, hostIPC, hostUsers }: SeenPod['spec']): string | undefined {
  if (name.startsWith('net.')) return hostNetwork ? 'net' : undefined;
  if (name.startsWith('user.')) return hostUsers === false ? undefined : 'user';
  return IPC.test(name) && hostIPC ? 'ipc' : undefined;
}

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(withDots(pattern.slice(0, -1))) : name === withDots(pattern);

/** A name may be written with slashes, so that its parts can have dots. */
function withDots(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== '/') return name;
  return name.replace(/[./]/g, (found) => (found === '/' ? '.' : '/'));
}
