/** Contents of `/etc/resolv.conf` in a pod. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { DnsConfig } from '../../runtime/sandbox-config.ts';
import type { ConfigEvent } from '../environment.ts';

export interface DnsOptions {
  /** Addresses of the cluster's DNS servers; empty: there are none. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Contents of the node's own file. */
  readonly node: DnsConfig;
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_DOMAIN = 253;

export function dnsOf(pod: SeenPod, options: DnsOptions): { dns: DnsConfig; events: ConfigEvent[] } {
  const { base, events } = baseOf(pod, options);
  const { dnsConfig } = pod.spec;
  const merged: DnsConfig = dnsConfig
    ? {
        servers: unique([...base.servers, ...(dnsConfig.nameservers ?? [])]),
        searches: unique([...base.searches, ...(dnsConfig.searches ?? [])]),
        options: mergeOptions(base.options, dnsConfig.options ?? []),
      }
    : base;
  return { dns: withinLimits(merged, events), events };
}

function baseOf({ metadata, spec }: SeenPod, { clusterDns, clusterDomain, node }: DnsOptions) {
  const events: ConfigEvent[] = [];
  if (spec.dnsPolicy === 'None') return { base: { servers: [], searches: [], options: [] }, events };
  const isCluster = spec.dnsPolicy === 'ClusterFirstWithHostNet' || (spec.dnsPolicy !== 'Default' && !spec.hostNetwork);
  if (!isCluster) return { base: node, events };
  if (!clusterDns.length) {
    const { name, namespace, uid } = metadata;
    const why = `kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`;
    events.push(warning('MissingClusterDNS', `pod: "${name}_${namespace}(${uid})". ${why}`));
    return { base: node, events };
  }
  const own = clusterDomain
    ? [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
    : [];
  const base: DnsConfig = { servers: clusterDns, searches: unique([...own, ...node.searches]), options: ['ndots:5'] };
  return { base, events };
}

/** Options of the pod replace those of the same name. */
function mergeOptions(base: readonly string[], own: readonly { name?: string; value?: string }[]): string[] {
  const values = new Map<string, string>();
  for (const option of base) {
    const colon = option.indexOf(':');
    if (colon < 0) values.set(option, '');
    else values.set(option.slice(0, colon), option.slice(colon + 1));
  }
  for (const { name = '', value = '' } of own) values.set(name, value);
  return [...values].map(([name, value]) => (value ? `${name}:${value}` : name));
}

function withinLimits({ servers, searches, options }: DnsConfig, events: ConfigEvent[]): DnsConfig {
  const kept = servers.slice(0, MAX_NAMESERVERS);
  if (kept.length < servers.length) {
    const line = `the applied nameserver line is: ${kept.join(' ')}`;
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, ${line}`;
    events.push(warning('DNSConfigForming', message));
  }
  const paths = searches.slice(0, MAX_SEARCHES).filter((domain) => domain.length <= MAX_DOMAIN);
  while (paths.join(' ').length > MAX_SEARCH_CHARACTERS) paths.pop();
  if (paths.length < searches.length) {
    const line = `the applied search line is: ${paths.join(' ')}`;
    events.push(
      warning('DNSConfigForming', `Search Line limits were exceeded, some search paths have been omitted, ${line}`),
    );
  }
  return { servers: kept, searches: paths, options };
}

/** Reads a resolv.conf: nameservers add up, the last search line counts, and the last option of a name. */
export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values[0]) servers.push(values[0]);
    if (keyword === 'search') searches = values.filter((each) => each !== '.').map((each) => each.replace(/\.$/, ''));
    if (keyword === 'options') for (const option of values) options.set(option.split(':')[0]!, option);
  }
  return { servers, searches, options: [...options.values()] };
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const warning = (reason: string, message: string): ConfigEvent => ({ type: 'Warning', reason, message });
