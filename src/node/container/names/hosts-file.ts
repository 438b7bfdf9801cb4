/** The `/etc/hosts` that the agent manages for the containers of a pod. */
import type { SeenPod } from '../../pod/container-run.ts';
import { podHostname } from './hostname.ts';

export interface HostsOptions {
  readonly clusterDomain: string;
  readonly podIPs: readonly string[];
  /** The contents of the node's own file, for pods on the node's network. */
  readonly nodeHosts: string;
}

/** Undefined while the pod has no address. */
export function hostsFileOf(pod: SeenPod, { clusterDomain, podIPs, nodeHosts }: HostsOptions): string | undefined {
  const { hostNetwork, hostAliases = [] } = pod.spec;
  if (hostNetwork) return `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliases(hostAliases)}`;
  if (!podIPs.length) return undefined;
  const { hostname, domain } = podHostname(pod, clusterDomain);
  const names = domain ? `${hostname}.${domain}\t${hostname}` : hostname;
  return MANAGED + podIPs.map((ip) => `${ip}\t${names}\n`).join('') + aliases(hostAliases);
}

const MANAGED = [
  '# Kubernetes-managed hosts file.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
  '',
].join('\n');

function aliases(entries: NonNullable<SeenPod['spec']['hostAliases']>): string {
  if (!entries.length) return '';
  const lines = entries.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
