/** Checks the addresses that a node reports for its pods, by which network policies allow or deny traffic. */
import type { BlockList } from 'node:net';
import { addressList, classOf, contains } from '../../../../../base/sockets/dial/address-class.ts';
import { Node } from '../../../../../kinds/groups/core/node/node.ts';
import { podNetworkOf } from '../../../../../kinds/groups/core/node/pod-network.ts';
import type { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { ServiceCIDR } from '../../../../../kinds/groups/networking/service-cidr.ts';
import { cidrProblems, ipProblems } from '../../../../../kinds/shapes/meta/addresses/ip-address.ts';
import type { Reader } from '../../../../objects/ports.ts';
import { objectsIn } from '../../../../objects/reads/lookup.ts';

type Ports = Pick<Reader, 'cache'>;

/** Returns why a node cannot report an address of its pod; undefined if it can. Earlier ones are left alone. */
export function podAddressProblem(core: Ports, pod: Pod, old: Pod, nodeName: string): string | undefined {
  const known = new Set(ipsOf(old));
  const added = ipsOf(pod).filter((ip) => !known.has(ip));
  if (added.length === 0) return undefined;
  const node = core.cache.table(Node).get('', nodeName)?.hub(Node) as Node | undefined;
  for (const ip of added) {
    const isOnNodeNetwork = pod.spec.hostNetwork === true || (node !== undefined && podNetworkOf(node) === 'node');
    const problem = problemOf(core, ip, { node, isOnNodeNetwork });
    if (problem !== undefined) return `${JSON.stringify(ip)} ${problem}`;
  }
  return undefined;
}

const ipsOf = ({ status }: Pod) => (status?.podIPs ?? []).map(({ ip }) => ip);

interface Reporter {
  readonly node: Node | undefined;
  readonly isOnNodeNetwork: boolean;
}

function problemOf(core: Ports, ip: string, { node, isOnNodeNetwork }: Reporter): string | undefined {
  const kind = classOf(ip);
  // Validation rejects text that is not an address.
  if (kind === undefined) return undefined;
  // A node reports its own addresses itself.
  if (kind !== 'unicast') return `is a ${kind} address`;
  if (contains(addressesOf(node), ip)) return undefined;
  if (isOnNodeNetwork) return 'is not an address of the node, whose network the pod has';
  const { podCIDRs = [] } = node?.spec ?? {};
  if (contains(rangesOf(podCIDRs), ip)) return undefined;
  const isExternal = node !== undefined && podNetworkOf(node) === 'external';
  if (podCIDRs.length > 0 && !isExternal) return `is not in the range of the node's pods (${podCIDRs.join(', ')})`;
  return takenBy(core, ip, node);
}

/** Returns what else in the cluster has the address. */
function takenBy(core: Ports, ip: string, node: Node | undefined): string | undefined {
  for (const other of objectsIn(core, Node, '')) {
    if (other.metadata.name === node?.metadata.name) continue;
    const name = JSON.stringify(other.metadata.name);
    if (contains(addressesOf(other), ip)) return `is an address of node ${name}`;
    if (contains(rangesOf(other.spec.podCIDRs ?? []), ip)) return `is in the range of the pods of node ${name}`;
  }
  const services = objectsIn(core, ServiceCIDR, '').flatMap(({ spec }) => spec?.cidrs ?? []);
  return contains(rangesOf(services), ip) ? 'is in the range of Services' : undefined;
}

function addressesOf(node: Node | undefined): BlockList {
  const addresses = (node?.status?.addresses ?? []).map(({ address }) => address);
  return addressList(addresses.filter((address) => ipProblems(address).length === 0));
}

const rangesOf = (ranges: readonly string[]) => addressList(ranges.filter((each) => cidrProblems(each).length === 0));
