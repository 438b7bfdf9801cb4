/**
 * Leaves connections to the sockets of this program alone, whatever other rules publish. The first translation of a
 * destination is the only one: one that changes nothing, and comes before the rules of pods, keeps the destination.
 */
import type { Command, Hook } from '../kernel/kernel.ts';
import type { NetworkPort } from '../kernel/ports/listening-sockets.ts';
import { familyOf } from '../rules/addresses.ts';
import { ip } from './layout.ts';

/** Priority before the rules of services and of runtimes. */
const BEFORE_ALL_DNAT = -110;
const CHAIN = 'own-listeners';
const HOOKS: readonly (readonly [string, Hook['hook']])[] = [
  ['nat-prerouting', 'prerouting'],
  ['nat-output', 'output'],
];

/**
 * Returns the table for these sockets. Sockets of UDP count when the program also listens on the port of TCP: others
 * are those of its own queries.
 */
export function ownListenersTable(sockets: readonly NetworkPort[]): readonly Command[] {
  const listening = new Set(sockets.filter(({ protocol }) => protocol === 'tcp').map(({ port }) => port));
  const rules = new Set(sockets.filter(({ port }) => listening.has(port)).flatMap(rulesOf));
  return [
    { do: 'replace-table' },
    { do: 'add-chain', chain: CHAIN },
    ...[...rules].map((rule): Command => ({ do: 'add-rule', chain: CHAIN, rule })),
    ...HOOKS.flatMap(([chain, hook]): Command[] => [
      { do: 'add-chain', chain, hook: { type: 'nat', hook, priority: BEFORE_ALL_DNAT } },
      { do: 'add-rule', chain, rule: `fib daddr type local jump ${CHAIN}` },
    ]),
  ];
}

function rulesOf({ protocol, address, port }: NetworkPort): readonly string[] {
  const keep = (family: 4 | 6, to: string) =>
    `${to} ${protocol} dport ${port} dnat ${ip(family)} to ${ip(family)} daddr`;
  if (address === '::') return ([4, 6] as const).map((family) => keep(family, `meta nfproto ipv${family}`));
  if (address === '0.0.0.0') return [keep(4, 'meta nfproto ipv4')];
  const family = familyOf(address);
  return [keep(family, `${ip(family)} daddr ${address}`)];
}
