/** Host ports: two pods cannot use the same port of a node. Where pods share the network of the node, each of their ports is one. */
import { type HostPort, PortTable } from '../../../kinds/placement/host-ports.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';

const TAKEN = rejection("node(s) didn't have free ports for the requested pod ports", true);

export const nodePorts: Plugin<PodInfo> = {
  name: 'NodePorts',
  preFilter(pod, { cluster }) {
    const ports = cluster.nodesWith.sharedNetwork > 0 ? pod.sharedPorts : pod.hostPorts;
    return ports.length === 0 ? SKIP : { type: 'go', state: pod };
  },
  filter(_, node, pod) {
    for (const port of node.portsOf(pod)) if (node.isTaken(port)) return TAKEN;
    return undefined;
  },
  hints: {
    Node: ({ type }) => type === 'add',
    Pod: ({ type, object }, { sharedPorts }) => type === 'delete' && meet(PodInfo.of(object).sharedPorts, sharedPorts),
  },
};

/** Reports whether the ports of two pods conflict on one node. */
function meet(some: readonly HostPort[], others: readonly HostPort[]): boolean {
  if (some.length === 0) return false;
  const taken = new PortTable<true>();
  for (const each of some) taken.add(each, true);
  return others.some((other) => taken.holderOf(other));
}
