/** Access to the node: its files as an image, host namespaces, paths, ports, probes and sysctls. */
import { addAll } from '../../../../../../base/collections/add-all.ts';
import type { Container } from '../../../../../../kinds/shapes/container/container.ts';
import { isHostImage } from '../../../../../../kinds/shapes/container/host-image.ts';
import {
  baseline,
  type Control,
  containers,
  containersWhere,
  distinct,
  type PodLike,
  plural,
  quoted,
  use,
} from '../control.ts';

/** An addition to Kubernetes' standards: the image `host` gives the same access as a hostPath volume of `/`. */
export const hostImage = baseline('hostImage', 'host image', (pod) => {
  const names = containersWhere(pod, ({ image }) => isHostImage(image ?? ''));
  const volumes = (pod.spec.volumes ?? []).filter(({ image }) => isHostImage(image?.reference ?? ''));
  const users = [
    ...(names.length > 0 ? [containers(names)] : []),
    ...(volumes.length > 0 ? [`${plural(volumes.length, 'volume')} ${quoted(volumes.map(({ name }) => name))}`] : []),
  ];
  if (users.length === 0) return undefined;
  return `${users.join(' and ')} must not use the image "host", which is the file system of the node`;
});

export const hostNamespaces = baseline('hostNamespaces', 'host namespaces', ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name]);
  return shared.map((name) => `${name}=true`).join(', ');
});

export const hostPathVolumes = baseline('hostPathVolumes', 'hostPath volumes', ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  return names.length === 0 ? undefined : `${plural(names.length, 'volume')} ${quoted(names)}`;
});

export const hostPorts = baseline('hostPorts', 'hostPort', (pod) => {
  const found: string[] = [];
  const names = containersWhere(pod, ({ ports = [] }) => {
    const taken = ports.flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));
    addAll(found, taken);
    return taken.length > 0;
  });
  if (names.length === 0) return undefined;
  const ports = distinct(found);
  return `${containers(names)} ${use(names.length)} ${plural(ports.length, 'hostPort')} ${ports.join(', ')}`;
});

/** Rejects probes of other hosts, which could make the node scan its network. */
export const hostProbesAndHostLifecycle = baseline(
  'hostProbesAndHostLifecycle',
  'probe or lifecycle host',
  (pod) => {
    const found: string[] = [];
    const names = containersWhere(pod, (container) => {
      const hosts = hostsOf(container);
      addAll(found, hosts);
      return hosts.length > 0;
    });
    if (names.length === 0) return undefined;
    const hosts = distinct(found);
    const words = `${use(distinct(names).length)} ${plural(hosts.length, 'probe or lifecycle host')} ${quoted(hosts)}`;
    return `${containers(distinct(names))} ${words}`;
  },
  34,
);

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    .filter((host): host is string => Boolean(host));
}

/** Sysctls that are isolated to the pod. */
const safe: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

export const sysctls: Control = {
  id: 'sysctls',
  level: 'baseline',
  forms: safe.map(([since]) => {
    const allowed = new Set(safe.filter(([from]) => from <= since).flatMap(([, names]) => names));
    return { since, judge: (pod) => forbiddenSysctls(pod, allowed) };
  }),
};

function forbiddenSysctls({ spec }: PodLike, allowed: ReadonlySet<string>) {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
  return names.length > 0 ? { reason: 'forbidden sysctls', detail: names.join(', ') } : undefined;
}
