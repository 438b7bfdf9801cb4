/**
 * The chains and sets of a port with session affinity: a set for each endpoint holds the clients that were sent there, and forgets
 * those that did not come back in time. It goes with the endpoint.
 */
import { address as checkedAddress, portNumber } from '../kernel/values.ts';
import type { Destination, PortRules } from '../rules/rule-set.ts';
import type { Balance } from './balance.ts';
import { ip } from './layout.ts';
import type { Part } from './part.ts';
import { shortHash } from './short-hash.ts';

export function stickyBalance({ id, family, protocol }: PortRules, timeoutSeconds: number): Balance {
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
