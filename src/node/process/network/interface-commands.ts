/**
 * Lines for `ip -batch` that make the interface of a pod. A line ends at a blank or a line break of a value, so every value is checked:
 * addresses by their syntax, names because this program has made them.
 */
import { createHash } from 'node:crypto';
import { deviceName, ipv4 } from '../../interfaces/nft-json.ts';
import type { AddressRange } from './addresses.ts';

interface Attachment {
  readonly bridge: string;
  readonly sandboxId: string;
  readonly address: string;
  readonly netns: string;
}

/** Pods of IPv4 ranges have no IPv6, except for the loopback interface, which reaches nobody else. Runs `ip -batch` then. */
export const INSIDE_SCRIPT = `
for i in default eth0; do
  f=/proc/sys/net/ipv6/conf/$i/disable_ipv6
  [ ! -w $f ] || echo 1 > $f
done
exec "$1" -batch -
`;

/**
 * Makes the interface of a pod in one program, because each one that this process starts takes a while: the pair of interfaces, and then
 * its guards beside what is inside. Arguments: ip, nsenter, nft, the namespace, lines of `ip` outside, commands of nft as JSON or nothing,
 * lines of `ip` inside, and INSIDE_SCRIPT.
 */
export const CONNECT_SCRIPT = `
ip=$1; nsenter=$2; nft=$3
printf '%s\\n' "$5" | "$ip" -batch - || exit
guard=
if [ -n "$6" ]; then "$nft" -j "$6" & guard=$!; fi
printf '%s\\n' "$7" | "$nsenter" "--net=$4" /bin/sh -c "$8" sh "$ip" || exit
[ -z "$guard" ] || wait "$guard"
`;

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
