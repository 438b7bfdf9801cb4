/** What NetworkPolicies add to the table: for each isolated pod an element that leads to the chain of its policies. */

import type { Allowance, AllowedPort, Isolation, NamedPort, PolicySet } from '../policy/policy-set.ts';
import { familyOf, type IpFamily } from '../rules/addresses.ts';
import { ip, ofIp, SETS } from './layout.ts';
import type { Part } from './part.ts';
import { shortHash } from './short-hash.ts';

const FAMILIES = [4, 6] as const;

export function policyParts(policies: PolicySet): readonly Part[] {
  return policies.flatMap((isolation) => FAMILIES.flatMap((family) => isolationParts(isolation, family)));
}

/** The chain returns what is allowed, and drops the rest. */
function isolationParts({ direction, policies, pods, allowances }: Isolation, family: IpFamily): readonly Part[] {
  const own = pods.filter((address) => familyOf(address) === family);
  if (own.length === 0) return [];
  const allowed = allowances.map((allowance) => allowanceParts(allowance, direction, family));
  const chain = `policy-${direction}-${shortHash(policies.join(' '))}-${family}`;
  const set = ofIp(direction === 'ingress' ? SETS.isolatedIngress : SETS.isolatedEgress, family);
  return [
    ...allowed.flatMap(({ parts }) => parts),
    { kind: 'chain', name: chain, rules: [...allowed.flatMap(({ rules }) => rules), 'drop'] },
    ...own.map((key): Part => ({ kind: 'element', set, key, value: `jump ${chain}` })),
  ];
}

interface Rendered {
  readonly rules: readonly string[];
  readonly parts: readonly Part[];
}

function allowanceParts(
  { id, peers, ports }: Allowance,
  direction: Isolation['direction'],
  family: IpFamily,
): Rendered {
  const parts: Part[] = [];
  const otherEnd = `${ip(family)} ${direction === 'ingress' ? 'saddr' : 'daddr'}`;
  const matches: string[] = [];
  if (!peers) matches.push('');
  else {
    const pods = peers.pods.filter((address) => familyOf(address) === family);
    if (pods.length > 0) {
      const name = `peers-${shortHash(id)}-${family}`;
      parts.push(...namedSet(name, `type ipv${family}_addr`, pods));
      matches.push(`${otherEnd} @${name}`);
    }
    for (const { range, except } of peers.blocks.filter((block) => familyOf(block.range) === family)) {
      const without = except.length > 0 ? ` ${otherEnd} != { ${except.join(', ')} }` : '';
      // Every address is in a range without bits.
      const within = range.endsWith('/0') ? `meta nfproto ipv${family}` : `${otherEnd} ${range}`;
      matches.push(`${within}${without}`);
    }
  }
  const portMatches = ports?.flatMap((port, index) => portMatch(port, `${id} ${index}`, family, parts)) ?? [''];
  const rules = matches.flatMap((peer) => portMatches.map((port) => [peer, port, 'return'].filter(Boolean).join(' ')));
  return { rules, parts };
}

function portMatch(port: AllowedPort | NamedPort, id: string, family: IpFamily, parts: Part[]): readonly string[] {
  if ('range' in port) {
    const { protocol, range } = port;
    if (!range) return [`meta l4proto ${protocol}`];
    const [first, last] = range;
    return [`meta l4proto ${protocol} th dport ${first === last ? first : `${first}-${last}`}`];
  }
  const own = port.destinations.filter(({ address }) => familyOf(address) === family);
  if (own.length === 0) return [];
  const name = `ports-${shortHash(id)}-${family}`;
  const elements = [...new Set(own.map((each) => `${each.address} . ${port.protocol} . ${each.port}`))];
  parts.push(...namedSet(name, `type ipv${family}_addr . inet_proto . inet_service`, elements));
  return [`${ip(family)} daddr . meta l4proto . th dport @${name}`];
}

function namedSet(name: string, type: string, keys: readonly string[]): readonly Part[] {
  return [
    { kind: 'set', set: { name, kind: 'set', type } },
    ...keys.map((key): Part => ({ kind: 'element', set: name, key, isShared: true })),
  ];
}
