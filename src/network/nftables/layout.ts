/** Fixed part of the table: the chains that packets pass, and the maps and sets that services fill. */
import type { Command, Hook, NetworkSettings, SetDefinition } from '../kernel/kernel.ts';
import type { IpFamily } from '../rules/addresses.ts';

/** The bit of the packet's mark that kube-proxy uses, too: the packet leaves with an address of this node. */
const MASQUERADE_BIT = '0x4000';
export const MASQUERADE = `meta mark set meta mark | ${MASQUERADE_BIT}`;

/** The names of sets and maps; each exists for both families. */
export const SETS = {
  clusterIPs: 'cluster-ips',
  /** Destination address, protocol and port → chain. */
  services: 'services',
  /** Destination address, protocol, port and a random number → endpoint. */
  endpoints: 'endpoints',
  /** Endpoints for traffic that must stay on this node. */
  localEndpoints: 'local-endpoints',
  /** Protocol and port → chain. */
  nodePorts: 'node-ports',
  nodePortEndpoints: 'node-port-endpoints',
  localNodePortEndpoints: 'local-node-port-endpoints',
  /** Destinations without an endpoint → reject or drop. */
  unserved: 'unserved',
  unservedNodePorts: 'unserved-node-ports',
  /** Addresses of load balancers with source ranges → chain. */
  restricted: 'restricted',
  /** Endpoints of this node, as source and destination of connections to themselves. */
  hairpins: 'hairpins',
  /** Isolated pods → chain of their policies. */
  isolatedIngress: 'isolated-ingress',
  isolatedEgress: 'isolated-egress',
  /** The ranges of the pods of this node. */
  podRanges: 'pod-ranges',
  /** The ranges of cluster IPs. */
  serviceRanges: 'service-ranges',
} as const;

export const REJECT_CHAIN = 'reject-service';

export const ofIp = (name: string, family: IpFamily) => `${name}-${family}`;
export const ip = (family: IpFamily) => (family === 4 ? 'ip' : 'ip6');

const FAMILIES = [4, 6] as const;
/** Priorities of netfilter: before connection tracking, before and at destination NAT, filters, and source NAT. */
const RAW = -300;
const DNAT = -100;
const FILTER = 0;
/**
 * Priority before the chains that leave the sources of pods alone, and before the rules of runtimes: the first
 * translation of a source is the only one.
 */
const BEFORE_SNAT = 90;
const BEFORE_DNAT = DNAT - 10;

function sets(family: IpFamily): SetDefinition[] {
  const address = family === 4 ? 'ipv4_addr' : 'ipv6_addr';
  const endpoint = `${address} . inet_service`;
  const map = (name: string, type: string): SetDefinition => ({ name: ofIp(name, family), kind: 'map', type });
  const set = (name: string, type: string): SetDefinition => ({ name: ofIp(name, family), kind: 'set', type });
  const byService = `type ${address} . inet_proto . inet_service : verdict`;
  const byPort = 'type inet_proto . inet_service : verdict';
  return [
    set(SETS.clusterIPs, `type ${address}`),
    map(SETS.services, byService),
    map(SETS.endpoints, `type ${address} . inet_proto . inet_service . mark : ${endpoint}`),
    map(SETS.localEndpoints, `type ${address} . inet_proto . inet_service . mark : ${endpoint}`),
    map(SETS.nodePorts, byPort),
    map(SETS.nodePortEndpoints, `type inet_proto . inet_service . mark : ${endpoint}`),
    map(SETS.localNodePortEndpoints, `type inet_proto . inet_service . mark : ${endpoint}`),
    map(SETS.unserved, byService),
    map(SETS.unservedNodePorts, byPort),
    map(SETS.restricted, byService),
    set(SETS.hairpins, `type ${address} . ${address} . inet_proto . inet_service`),
    map(SETS.isolatedIngress, `type ${address} : verdict`),
    map(SETS.isolatedEgress, `type ${address} : verdict`),
    { ...set(SETS.podRanges, `type ${address}`), flags: ['interval'] },
    { ...set(SETS.serviceRanges, `type ${address}`), flags: ['interval'] },
  ];
}

interface Chain {
  readonly name: string;
  readonly hook?: Hook;
  readonly rules: readonly string[];
}

/** Rules for both families. */
const both = (rule: (family: IpFamily) => string): readonly string[] => FAMILIES.map(rule);
const keyOf = (family: IpFamily) => `${ip(family)} daddr . meta l4proto . th dport`;
const isFamily = (family: IpFamily) => `meta nfproto ipv${family}`;
const vmap = (name: string) => (family: IpFamily) => `${keyOf(family)} vmap @${ofIp(name, family)}`;
const nodePortVmap = (name: string) => (family: IpFamily) =>
  `${isFamily(family)} meta l4proto . th dport vmap @${ofIp(name, family)}`;

function chains({ filtersBridges }: NetworkSettings): readonly Chain[] {
  const isNew = 'ct state new';
  return [
    { name: REJECT_CHAIN, rules: ['meta l4proto tcp reject with tcp reset', 'reject'] },
    { name: 'check-sources', rules: both(vmap(SETS.restricted)) },
    {
      name: 'check-endpoints',
      rules: [
        ...both(vmap(SETS.unserved)),
        // Ports that no service has.
        ...both((family) => `${ip(family)} daddr @${ofIp(SETS.clusterIPs, family)} goto ${REJECT_CHAIN}`),
        // Traffic to a cluster IP that no service has never leaves the node.
        ...both((family) => `${ip(family)} daddr @${ofIp(SETS.serviceRanges, family)} drop`),
      ],
    },
    {
      // Traffic between a pod and its node is always allowed: it is not forwarded. Packets of one bridge are.
      name: 'check-policies',
      rules: [
        // A pod reaches itself through a service.
        ...both(
          (family) =>
            `ct status dnat ${ip(family)} saddr . ${ip(family)} daddr . meta l4proto . th dport @${ofIp(SETS.hairpins, family)} return`,
        ),
        ...both((family) => `${ip(family)} saddr vmap @${ofIp(SETS.isolatedEgress, family)}`),
        ...both((family) => `${ip(family)} daddr vmap @${ofIp(SETS.isolatedIngress, family)}`),
      ],
    },
    {
      name: 'to-services',
      rules: [
        // From outside, another node could get the reply of an endpoint.
        ...both(
          (family) =>
            `${ip(family)} daddr @${ofIp(SETS.clusterIPs, family)} ${ip(family)} saddr != @${ofIp(SETS.podRanges, family)} ${MASQUERADE}`,
        ),
        ...both(vmap(SETS.services)),
        ...both((family) => `fib daddr type local ${nodePortVmap(SETS.nodePorts)(family)}`),
      ],
    },
    {
      name: 'raw-prerouting',
      hook: { type: 'filter', hook: 'prerouting', priority: RAW },
      // The node routes packets from its loopback address to pods; other senders may not send any to it.
      rules: ['iif != lo ip daddr 127.0.0.0/8 drop'],
    },
    {
      name: 'sources-prerouting',
      hook: { type: 'filter', hook: 'prerouting', priority: BEFORE_DNAT },
      rules: [`${isNew} jump check-sources`],
    },
    {
      name: 'sources-output',
      hook: { type: 'filter', hook: 'output', priority: BEFORE_DNAT },
      rules: [`${isNew} jump check-sources`],
    },
    {
      name: 'nat-prerouting',
      hook: { type: 'nat', hook: 'prerouting', priority: DNAT },
      rules: ['jump to-services'],
    },
    { name: 'nat-output', hook: { type: 'nat', hook: 'output', priority: DNAT }, rules: ['jump to-services'] },
    {
      name: 'filter-input',
      hook: { type: 'filter', hook: 'input', priority: FILTER },
      rules: [
        ...both((family) => `${isNew} ${nodePortVmap(SETS.unservedNodePorts)(family)}`),
        ...both((family) => `${isNew} ${vmap(SETS.unserved)(family)}`),
      ],
    },
    {
      name: 'filter-forward',
      hook: { type: 'filter', hook: 'forward', priority: FILTER },
      rules: [`${isNew} jump check-endpoints`, `ct state != { established, related } jump check-policies`],
    },
    {
      name: 'filter-output',
      hook: { type: 'filter', hook: 'output', priority: FILTER },
      rules: [`${isNew} jump check-endpoints`],
    },
    {
      name: 'nat-postrouting',
      hook: { type: 'nat', hook: 'postrouting', priority: BEFORE_SNAT },
      rules: [
        `meta mark & ${MASQUERADE_BIT} != 0 meta mark set meta mark ^ ${MASQUERADE_BIT} masquerade fully-random`,
        // A pod that reaches itself through a service must get the reply back from the node.
        ...both(
          (family) =>
            `ct status dnat ${ip(family)} saddr . ${ip(family)} daddr . meta l4proto . th dport @${ofIp(SETS.hairpins, family)} masquerade fully-random`,
        ),
        // A reply to a pod on the same bridge would not pass the node, and so keep the endpoint's address.
        ...(filtersBridges
          ? []
          : both(
              (family) =>
                `ct status dnat ${ip(family)} saddr @${ofIp(SETS.podRanges, family)} ${ip(family)} daddr @${ofIp(SETS.podRanges, family)} masquerade fully-random`,
            )),
      ],
    },
  ];
}

/** Creates the table with everything but services, and replaces an older one. */
export function createTable(settings: NetworkSettings): readonly Command[] {
  const all = chains(settings);
  return [
    { do: 'replace-table' },
    ...FAMILIES.flatMap(sets).map((set): Command => ({ do: 'add-set', set })),
    ...all.map(({ name, hook }): Command => ({ do: 'add-chain', chain: name, hook })),
    ...all.flatMap(({ name, rules }) => rules.map((rule): Command => ({ do: 'add-rule', chain: name, rule }))),
  ];
}
