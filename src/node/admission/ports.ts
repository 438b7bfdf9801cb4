/** Checks that the ports of the node that a pod takes are free. */
import { podNetworkOf } from '../../kinds/groups/core/node/pod-network.ts';
import { type HostPort, hostPortsOf, PortTable, sharedPortsOf } from '../../kinds/placement/host-ports.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Rejection, SeenNode } from './rejection.ts';

/** A port that a program of the machine listens on. */
export interface PortInUse extends HostPort {
  /** Part of a sentence: `the API server`. */
  readonly holder: string;
}

export interface PortUsers {
  readonly others: readonly SeenPod[];
  readonly portsInUse: readonly PortInUse[];
}

/** All ports that pods declare are those of the node where they share its network. */
export function nodePortsOf(pod: SeenPod, node: SeenNode): readonly HostPort[] {
  return podNetworkOf(node) === 'node' ? sharedPortsOf(pod) : hostPortsOf(pod);
}

/** The reason is that of kubelet for ports of other pods, and `PortInUse` for those of other programs. */
export function portRejection(pod: SeenPod, node: SeenNode, { others, portsInUse }: PortUsers): Rejection | undefined {
  const wanted = nodePortsOf(pod, node);
  if (wanted.length === 0) return undefined;
  const ofPods = new PortTable<string>();
  for (const other of others) {
    const { namespace, name } = other.metadata;
    for (const port of nodePortsOf(other, node)) ofPods.add(port, `pod ${namespace}/${name}`);
  }
  const ofPrograms = new PortTable<string>();
  for (const port of portsInUse) ofPrograms.add(port, port.holder);
  for (const port of wanted) {
    const pod = ofPods.holderOf(port);
    if (pod !== undefined) {
      const message = `Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports`;
      return { reason: 'NodePorts', message: `${message}: ${pod} has ${port.protocol}/${port.port}` };
    }
    const program = ofPrograms.holderOf(port);
    if (program !== undefined) {
      return { reason: 'PortInUse', message: `Port ${port.protocol}/${port.port} of the node is in use by ${program}` };
    }
  }
  return undefined;
}
