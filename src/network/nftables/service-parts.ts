/** Parts that one port of a service adds to the table. */
import { address as checkedAddress, range as checkedRange, portNumber } from '../kernel/values.ts';
import { familyOf, type IpFamily } from '../rules/addresses.ts';
import type { Choice, Destination, ExternalTraffic, PortRules } from '../rules/rule-set.ts';
import { ip, MASQUERADE, ofIp, REJECT_CHAIN, SETS } from './layout.ts';
import { type Balance, type Part, shortHash } from './part.ts';

export function portParts(rules: PortRules): readonly Part[] {
  const { family, protocol, clusterIP, port, internal, external } = rules;
  const parts: Part[] = [element(ofIp(SETS.clusterIPs, family), clusterIP, undefined, true)];
  const key = (address: string) => `${address} . ${protocol} . ${port}`;
  const clusterKey = key(clusterIP);
  if (internal.endpoints.length > 0) {
    const balance = balanceFor(rules, { key: clusterKey, by: 'address' });
    const { chain, parts: own } = balance('internal', internal.endpoints);
    parts.push(...own, element(ofIp(SETS.services, family), clusterKey, `goto ${chain}`));
  } else {
    parts.push(element(ofIp(SETS.unserved, family), clusterKey, verdict(internal)));
  }
  parts.push(...hairpins(rules));
  if (!external) return parts;
  for (const address of [...external.addresses, ...external.loadBalancerAddresses]) {
    const at = { key: key(address), by: 'address' as const };
    parts.push(...externalParts(rules, external, at));
  }
  if (external.nodePort > 0) {
    const at = { key: `${protocol} . ${external.nodePort}`, by: 'port' as const };
    parts.push(...externalParts(rules, external, at));
  }
  parts.push(...sourceParts(rules, external, key));
  return parts;
}

/** A place in the maps: an address with a port, or a node port. */
interface Place {
  readonly key: string;
  readonly by: 'address' | 'port';
}

function externalParts(rules: PortRules, external: ExternalTraffic, at: Place): readonly Part[] {
  const { family } = rules;
  const [served, unserved] =
    at.by === 'address' ? [SETS.services, SETS.unserved] : [SETS.nodePorts, SETS.unservedNodePorts];
  const parts: Part[] = [];
  const hasOutside = external.outside.endpoints.length > 0;
  if (!hasOutside) parts.push(element(ofIp(unserved, family), at.key, verdict(external.outside)));
  if (external.inside.length === 0 && !hasOutside) return parts;
  const balance = balanceFor(rules, at);
  const inside = balance('inside', external.inside);
  parts.push(...inside.parts);
  const outside =
    external.policy === 'Local' && hasOutside ? balance('outside', external.outside.endpoints) : undefined;
  parts.push(...(outside?.parts ?? []));
  const chain = externalChain(family, external.policy, { inside: inside.chain, outside: outside?.chain });
  parts.push(chain, element(ofIp(served, family), at.key, `goto ${chain.name}`));
  return parts;
}

/** The chain depends on nothing but the chains that it leads to, so that services share it. */
function externalChain(
  family: IpFamily,
  policy: 'Cluster' | 'Local',
  { inside, outside }: { readonly inside: string; readonly outside: string | undefined },
): Extract<Part, { kind: 'chain' }> {
  if (policy === 'Cluster') {
    return { kind: 'chain', name: `external-${inside}`, rules: [MASQUERADE, `goto ${inside}`], isShared: true };
  }
  const rules = [
    `${ip(family)} saddr @${ofIp(SETS.podRanges, family)} goto ${inside}`,
    // The node chooses its own address as the source.
    `fib saddr type local ${MASQUERADE}`,
    `fib saddr type local goto ${inside}`,
    ...(outside === undefined ? [] : [`goto ${outside}`]),
  ];
  return { kind: 'chain', name: `external-${inside}-${outside ?? 'none'}`, rules, isShared: true };
}

function balanceFor(rules: PortRules, at: Place): Balance {
  return rules.affinitySeconds === undefined ? drawFromMap(rules, at) : stickyBalance(rules, rules.affinitySeconds);
}

/** Endpoints are numbered in a map, and a chain for their number draws one. */
function drawFromMap({ family }: PortRules, { key, by }: Place): Balance {
  const fields = by === 'address' ? `${ip(family)} daddr . meta l4proto . th dport` : 'meta l4proto . th dport';
  const [all, local] =
    by === 'address' ? [SETS.endpoints, SETS.localEndpoints] : [SETS.nodePortEndpoints, SETS.localNodePortEndpoints];
  return (role, endpoints) => {
    const map = ofIp(role === 'outside' ? local : all, family);
    const chain = `${map}-${endpoints.length}`;
    const rules = [
      // The number stays with the connection, where it disturbs no routing. A map cannot have a random number in its key in
      // all releases of nft.
      `ct mark set numgen random mod ${endpoints.length}`,
      `meta l4proto { tcp, udp } dnat ${ip(family)} addr . port to ${fields} . ct mark map @${map}`,
    ];
    const numbered = endpoints.map(({ address, port }, index) =>
      element(map, `${key} . ${index}`, `${address} . ${port}`),
    );
    return { chain, parts: [{ kind: 'chain', name: chain, rules, isShared: true }, ...numbered] };
  };
}

function hairpins({ family, protocol, internal, external }: PortRules): readonly Part[] {
  const all = [...internal.endpoints, ...(external ? [...external.inside, ...external.outside.endpoints] : [])];
  const local = new Set(all.filter(({ isLocal }) => isLocal).map(({ address, port }) => `${address} ${port}`));
  return [...local].map((each) => {
    const [address, port] = each.split(' ');
    return element(ofIp(SETS.hairpins, family), `${address} . ${address} . ${protocol} . ${port}`, undefined, true);
  });
}

function sourceParts(
  { id, family }: PortRules,
  { loadBalancerAddresses, allowedSources }: ExternalTraffic,
  key: (address: string) => string,
): readonly Part[] {
  if (!allowedSources || loadBalancerAddresses.length === 0) return [];
  const name = `sources-${shortHash(id)}`;
  const allowed = allowedSources.filter((range) => familyOf(range) === family);
  return [
    { kind: 'chain', name, rules: [`${ip(family)} saddr != { ${allowed.map(checkedRange).join(', ')} } drop`] },
    ...loadBalancerAddresses.map((address) => element(ofIp(SETS.restricted, family), key(address), `goto ${name}`)),
  ];
}

function verdict({ otherwise }: Choice): string {
  return otherwise === 'reject' ? `goto ${REJECT_CHAIN}` : 'drop';
}

export function element(set: string, key: string, value?: string, isShared = false): Part {
  return { kind: 'element', set, key, ...(value === undefined ? {} : { value }), ...(isShared ? { isShared } : {}) };
}

/**
 * The chains and sets of a port with session affinity: a set for each endpoint holds the clients that were sent there, and forgets
 * those that did not come back in time. It goes with the endpoint.
 */
function stickyBalance({ id, family, protocol }: PortRules, timeoutSeconds: number): Balance {
  const own = shortHash(id);
  const saddr = `${ip(family)} saddr`;
  const endpointParts = ({ address, port }: Destination) => {
    const name = `${own}-${shortHash(`${address} ${port}`)}`;
    const set = `clients-${name}-${timeoutSeconds}`;
    const chain = `endpoint-${name}`;
    const to = checkedAddress(address);
    const target = `dnat ${ip(family)} to ${family === 6 ? `[${to}]` : to}:${portNumber(port)}`;
    const parts: Part[] = [
      {
        kind: 'set',
        set: {
          name: set,
          kind: 'set',
          type: `type ipv${family}_addr`,
          timeoutSeconds,
          flags: ['dynamic', 'timeout'],
        },
      },
      {
        kind: 'chain',
        name: chain,
        rules: [`update @${set} { ${saddr} }`, `meta l4proto ${protocol} ${target}`],
      },
    ];
    return { set, chain, parts };
  };
  return (role, endpoints) => {
    const each = endpoints.map(endpointParts);
    const name = `sticky-${role}-${own}`;
    const numbered = each.map(({ chain }, index) => `${index} : goto ${chain}`).join(', ');
    const rules = [
      ...each.map(({ set, chain }) => `${saddr} @${set} goto ${chain}`),
      `numgen random mod ${each.length} vmap { ${numbered} }`,
    ];
    return { chain: name, parts: [...each.flatMap(({ parts }) => parts), { kind: 'chain', name, rules } as const] };
  };
}
