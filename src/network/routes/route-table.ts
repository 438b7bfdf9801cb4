/** The nftables rules that packets to the pods of other machines pass. */
import type { Command, Hook } from '../kernel/kernel.ts';
import type { Routing } from '../kernel/routing/router.ts';
import { range as checkedRange } from '../kernel/values.ts';

const REMOTE_PODS = 'remote-pods';
/** Hook before the rules of the runtimes, which give packets that leave the machine its address. */
const BEFORE_SNAT: Hook = { type: 'nat', hook: 'postrouting', priority: 99 };
const MANGLE: Hook = { type: 'filter', hook: 'forward', priority: -150 };

/**
 * Pods are seen with their own addresses: a source that is translated to itself is not translated by later rules. TCP
 * connections get segments that fit into the route. Empty without routes.
 */
export function routeTable({ routes, tunnel }: Routing, ownRanges: readonly string[]): readonly Command[] {
  const behind = tunnel?.peers.flatMap(({ ranges }) => ranges) ?? [];
  const elements = [...routes.map(({ range }) => range), ...behind].sort();
  if (elements.length === 0) return [];
  const toRemote = `ip daddr @${REMOTE_PODS}`;
  const [untranslated, segments] = ['keep-sources', 'fit-segments'];
  return [
    { do: 'replace-table' },
    { do: 'add-set', set: { name: REMOTE_PODS, kind: 'set', type: 'type ipv4_addr', flags: ['interval'] } },
    { do: 'add-elements', set: REMOTE_PODS, elements },
    { do: 'add-chain', chain: untranslated, hook: BEFORE_SNAT },
    ...ownRanges.map((range): Command => {
      return {
        do: 'add-rule',
        chain: untranslated,
        rule: `ip saddr ${checkedRange(range)} ${toRemote} snat ip to ip saddr`,
      };
    }),
    { do: 'add-chain', chain: segments, hook: MANGLE },
    { do: 'add-rule', chain: segments, rule: `${toRemote} tcp flags syn tcp option maxseg size set rt mtu` },
  ];
}
