/** Host ports: two pods cannot use the same port of a node. */
import type { HostPort } from '../../cluster/pod-info.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import { type Plugin, refusal, SKIP } from '../../framework/plugin.ts';

const TAKEN = refusal("node(s) didn't have free ports for the requested pod ports", true);

export const nodePorts: Plugin<readonly HostPort[]> = {
  name: 'NodePorts',
  preFilter({ hostPorts }) {
    return hostPorts.length === 0 ? SKIP : { type: 'go', state: hostPorts };
  },
  filter(_, node, ports) {
    for (const port of ports) if (node.isTaken(port)) return TAKEN;
    return undefined;
  },
  hints: {
    Node: ({ type }) => type === 'add',
    Pod: ({ type, object }, { hostPorts }) => type === 'delete' && meet(PodInfo.of(object).hostPorts, hostPorts),
  },
};

const ANY_ADDRESS = '0.0.0.0';

/** Whether two pods could not use their ports on one node. */
function meet(some: readonly HostPort[], others: readonly HostPort[]): boolean {
  if (some.length === 0) return false;
  const numbers = new Set(some.map(({ protocol, port }) => `${protocol} ${port}`));
  const addresses = new Set(some.map(({ protocol, port, address }) => `${protocol} ${port} ${address}`));
  return others.some(({ protocol, port, address }) => {
    const key = `${protocol} ${port}`;
    if (address === ANY_ADDRESS) return numbers.has(key);
    return addresses.has(`${key} ${address}`) || addresses.has(`${key} ${ANY_ADDRESS}`);
  });
}
