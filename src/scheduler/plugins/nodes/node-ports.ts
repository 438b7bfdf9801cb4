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
    Pod: ({ type, object }, { hostPorts }) =>
      type === 'delete' && new PodInfo(object).hostPorts.some((freed) => hostPorts.some((port) => meet(port, freed))),
  },
};

const ANY_ADDRESS = '0.0.0.0';

function meet(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.address === b.address || a.address === ANY_ADDRESS || b.address === ANY_ADDRESS;
}
