/**
 * Parts that NetworkPolicies add to the table: for each isolated pod an element that leads to the chain of its
 * policies.
 */

import { addAll } from '../../base/collections/add-all.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import { range as checkedRange, portNumber } from '../kernel/values.ts';
import type { Allowance, AllowedPort, Isolation, NamedPort, PolicySet } from '../policy/policy-set.ts';
import { familyOf, type IpFamily } from '../rules/addresses.ts';
import { ip, ofIp, SETS } from './layout.ts';
import { type Part, shortHash } from './part.ts';

const FAMILIES = [4, 6] as const;

export function* policyParts(policies: PolicySet, pace: Pace): DividedWork<readonly Part[]> {
  const parts: Part[] = [];
  for (const isolation of policies) for (const family of FAMILIES) yield* addIsolation(parts, isolation, family, pace);
  return parts;
}

/** Adds a chain that returns allowed packets, and drops the rest. */
function* addIsolation(
  parts: Part[],
  { direction, policies, pods, allowances }: Isolation,
  family: IpFamily,
  pace: Pace,
): DividedWork<void> {
  const own = pods.filter((address) => familyOf(address) === family);
  if (own.length === 0) return;
  const rules: string[] = [];
  for (const allowance of allowances) {
    if (pace.isSpent()) yield;
    const allowed = allowanceParts(allowance, direction, family);
    addAll(parts, allowed.parts);
    addAll(rules, allowed.rules);
  }
  const chain = `policy-${direction}-${shortHash(policies.join(' '))}-${family}`;
  const set = ofIp(direction === 'ingress' ? SETS.isolatedIngress : SETS.isolatedEgress, family);
  parts.push({ kind: 'chain', name: chain, rules: [...rules, 'drop'] });
  for (const key of own) parts.push({ kind: 'element', set, key, value: `jump ${chain}` });
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
      addAll(parts, namedSet(name, `type ipv${family}_addr`, pods));
      matches.push(`${otherEnd} @${name}`);
    }
    for (const { range, except } of peers.blocks.filter((block) => familyOf(block.range) === family)) {
      const without = except.length > 0 ? ` ${otherEnd} != { ${except.map(checkedRange).join(', ')} }` : '';
      // Every address is in a range without bits.
      const within = range.endsWith('/0') ? `meta nfproto ipv${family}` : `${otherEnd} ${checkedRange(range)}`;
      matches.push(`${within}${without}`);
    }
  }
  const portMatches = ports ? portMatchesOf(ports, id, family, parts) : [''];
  const rules = matches.flatMap((peer) => portMatches.map((port) => [peer, port, 'return'].filter(Boolean).join(' ')));
  return { rules, parts };
}

/** Returns one match for all numbers of a protocol: there is a rule for each match and each block of addresses. */
function portMatchesOf(
  ports: readonly (AllowedPort | NamedPort)[],
  id: string,
  family: IpFamily,
  parts: Part[],
): readonly string[] {
  const ranges = new Map<string, AllowedPort[]>();
  const named: string[] = [];
  ports.forEach((port, index) => {
    if (!('range' in port)) addAll(named, namedPortMatch(port, `${id} ${index}`, family, parts));
    else if (ranges.has(port.protocol)) ranges.get(port.protocol)?.push(port);
    else ranges.set(port.protocol, [port]);
  });
  return [...[...ranges].map(([protocol, own]) => rangesMatch(protocol, own)), ...named];
}

function rangesMatch(protocol: string, ports: readonly AllowedPort[]): string {
  if (ports.some(({ range }) => !range)) return `meta l4proto ${protocol}`;
  const merged: [first: number, last: number][] = [];
  // Ranges of a set must not overlap.
  for (const [first, last] of ports.map(({ range }) => range!).sort(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  const texts = merged
    .map((ends) => ends.map(portNumber))
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return `meta l4proto ${protocol} th dport ${texts.length === 1 ? texts[0] : `{ ${texts.join(', ')} }`}`;
}

function namedPortMatch(port: NamedPort, id: string, family: IpFamily, parts: Part[]): readonly string[] {
  const own = port.destinations.filter(({ address }) => familyOf(address) === family);
  if (own.length === 0) return [];
  const name = `ports-${shortHash(id)}-${family}`;
  const elements = [...new Set(own.map((each) => `${each.address} . ${port.protocol} . ${each.port}`))];
  addAll(parts, namedSet(name, `type ipv${family}_addr . inet_proto . inet_service`, elements));
  return [`${ip(family)} daddr . meta l4proto . th dport @${name}`];
}

function namedSet(name: string, type: string, keys: readonly string[]): readonly Part[] {
  return [
    { kind: 'set', set: { name, kind: 'set', type } },
    ...keys.map((key): Part => ({ kind: 'element', set: name, key, isShared: true })),
  ];
}
