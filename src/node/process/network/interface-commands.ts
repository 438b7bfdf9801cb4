/**
 * Lines for `ip -batch` that make the interface of a pod. A line ends at a blank or a line break of a value, so every value is checked:
 * addresses by their syntax, names because this program has made them.
 */

import { createHash } from 'node:crypto';
import { programText } from '../../../base/programs/program-text.ts';
import { deviceName, ipv4 } from '../../interfaces/nft-json.ts';
import type { AddressRange } from './addresses.ts';

interface Attachment {
  readonly bridge: string;
  readonly sandboxId: string;
  readonly address: string;
  readonly netns: string;
}

/** Runs `ip -batch` in the namespace of a pod. */
export const INSIDE_SCRIPT = programText(new URL('./configure-inside.sh', import.meta.url));

/** Makes the interface of a pod. */
export const CONNECT_SCRIPT = programText(new URL('./connect-pod.sh', import.meta.url));

const NETWORK_NAMESPACE = /^(?:\/[A-Za-z0-9_.-]+)+$/;

/** The name of the node's end: at most 15 characters. */
export function deviceOf(sandboxId: string): string {
  return `qd${createHash('sha256').update(sandboxId).digest('hex').slice(0, 12)}`;
}

/** The hardware address of a pod follows from its address, as in CNI's bridges. */
export function macOf(address: string): string {
  const parts = ipv4(address)
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'));
  return `0a:58:${parts.join(':')}`;
}

/** Throws for other text than the absolute path of a namespace. */
export function namespacePath(text: string): string {
  if (!NETWORK_NAMESPACE.test(text)) throw new Error(`${JSON.stringify(text)} is not the path of a network namespace`);
  return text;
}

/** Makes the pair of interfaces, one end of it in the namespace. A pod may reach itself through a service: hairpin. */
export function attachCommands({ bridge, sandboxId, address, netns }: Attachment): readonly string[] {
  const device = deviceOf(sandboxId);
  const peer = `peer name eth0 address ${macOf(address)} netns ${namespacePath(netns)}`;
  return [
    `link add ${device} type veth ${peer}`,
    `link set ${device} master ${deviceName(bridge)} up`,
    `link set ${device} type bridge_slave hairpin on`,
  ];
}

/** Configures the pod's end, inside the namespace. */
export function insideCommands(address: string, { gateway, prefixLength }: AddressRange): readonly string[] {
  return [
    'link set lo up',
    `addr add ${ipv4(address)}/${prefixLength} dev eth0`,
    'link set eth0 up',
    `route add default via ${ipv4(gateway)}`,
  ];
}
