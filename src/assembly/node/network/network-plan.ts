/**
 * The networks of the further nodes of a machine (`--nodes 2` and more). The first node has the network of the machine. Each
 * other one has a network namespace, which a bridge connects with the machine; the machine routes between the pods of all.
 */
import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { canonicalRange } from '../../../kinds/shapes/meta/addresses/ip-range.ts';
import { formatAddress, parseAddress, subnetsOf } from '../../../node/simulated/agent/addresses.ts';

/** How to reach one further node. */
export interface NodeNetwork {
  /** Path of the network namespace. */
  readonly namespace: string;
  /** The address of the node, on the bridge. */
  readonly address: string;
}

export interface MachineNetwork {
  /** Names of interfaces have at most 15 characters. */
  readonly bridge: string;
  /** The machine's address on the bridge. */
  readonly gateway: string;
  readonly prefixLength: number;
  /** The addresses on the bridge. */
  readonly range: string;
  readonly table: string;
  readonly clusterCidr: string;
}

const NAMESPACES = '/run/netns';
/** It is its only link; the network plugins of pods choose other names. */
const NODE_INTERFACE = 'eth0';

const namespacePath = (name: string) => `${NAMESPACES}/${name}`;
export const namespaceName = (path: string) => path.slice(NAMESPACES.length + 1);

/** Returns undefined when the range has no room for the addresses of nodes beside those of `count` nodes' pods. */
export function machineNetwork(dataDirectory: string, clusterCidr: string, count: number): MachineNetwork | undefined {
  const subnets = subnetsOf(clusterCidr, count + 1);
  if (!subnets) return undefined;
  const prefixLength = Number(subnets.at(0).split('/')[1]);
  const last = 2 ** (prefixLength - Number(clusterCidr.split('/')[1])) - 1;
  const range = subnets.at(last);
  return {
    ...machineNames(dataDirectory),
    clusterCidr,
    range,
    prefixLength,
    gateway: addressIn(range, 1),
  };
}

/** Names of the machine's bridge and table for the further nodes of a cluster. */
export function machineNames(dataDirectory: string): Pick<MachineNetwork, 'bridge' | 'table'> {
  const id = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 8);
  return { bridge: `qdn${id}`, table: `quarterdeck_${id}_nodes` };
}

/** `index` counts the nodes of the machine from zero; `id` identifies the node on this machine. */
export function nodeNetwork({ range }: MachineNetwork, index: number, id: string): NodeNetwork {
  return { namespace: namespacePath(id), address: addressIn(range, index + 1) };
}

/** Commands for `ip -batch` on the machine that make a node's namespace reachable, without those that fail when repeated. */
export function reachCommands(
  { bridge }: MachineNetwork,
  { address, namespace }: NodeNetwork,
  podCIDR: string,
): string {
  const range = canonicalRange(podCIDR);
  if (range === undefined) throw new Error(`${JSON.stringify(podCIDR)} is not a range of addresses`);
  const link = hostInterface(namespaceName(namespace));
  return [
    `link set ${link} master ${bridge} up`,
    // Traffic from the node to one of the machine's node ports may have to go back to a pod of the node.
    `link set ${link} type bridge_slave hairpin on`,
    `route replace ${range} via ${address} dev ${bridge}`,
    '',
  ].join('\n');
}

/** The same inside of the namespace. */
export function insideCommands({ gateway, prefixLength }: MachineNetwork, { address }: NodeNetwork): string {
  return [
    'link set lo up',
    `addr replace ${address}/${prefixLength} dev ${NODE_INTERFACE}`,
    `link set ${NODE_INTERFACE} up`,
    `route replace default via ${gateway}`,
    '',
  ].join('\n');
}

export function linkCommand({ namespace }: NodeNetwork): string {
  const name = namespaceName(namespace);
  return `link add ${hostInterface(name)} type veth peer name ${NODE_INTERFACE} netns ${name}\n`;
}

const hostInterface = (name: string) => `${name}-n`;

/**
 * The nftables rules of the machine (`bridge`) or of a node's namespace. Pods of one node see those of another with their own
 * addresses: a source that is translated to itself is not translated by the rules of the runtimes, which come later. Other nodes see
 * what comes from the machine with its address as a node. A source address of the route would not outlive that address.
 */
export function networkRules(network: MachineNetwork, where: 'node' | { readonly machineAddress: string }): string {
  const { table, clusterCidr, range, bridge, gateway } = network;
  const link = where === 'node' ? NODE_INTERFACE : bridge;
  return [
    `table ip ${table} {}`,
    `delete table ip ${table}`,
    `table ip ${table} {`,
    '  chain postrouting {',
    '    type nat hook postrouting priority 99; policy accept;',
    ...(where === 'node' || !isIPv4(where.machineAddress)
      ? []
      : [`    oifname "${link}" ip saddr ${gateway} ip daddr ${range} snat to ${where.machineAddress}`]),
    `    oifname "${link}" ip saddr ${clusterCidr} ip daddr ${clusterCidr} snat to ip saddr`,
    ...(where === 'node' ? [] : [`    ip saddr ${range} ip daddr != ${clusterCidr} masquerade`]),
    '  }',
    '}',
    '',
  ].join('\n');
}

function addressIn(range: string, offset: number): string {
  return formatAddress(parseAddress(range.split('/')[0] ?? '') + offset);
}
