/** Finds the ports of a machine that rules send elsewhere: to pods and services of other nodes and clusters, and to containers of others. */

import { ANY_ADDRESS } from '../../../kinds/placement/host-ports.ts';
import type { NetworkPort } from './listening-sockets.ts';

/** Port that rules redirect, whatever listens on it. */
export interface PublishedPort extends NetworkPort {
  /** The table or the network that the rule belongs to. */
  readonly owner: string;
}

interface Payload {
  readonly payload?: { readonly protocol?: string; readonly field?: string };
}

/** A statement of a rule, as `nft -j` prints it. */
interface Statement {
  readonly match?: { readonly op: string; readonly left: Payload; readonly right: unknown };
  readonly dnat?: unknown;
}

/** Output of `nft -j` for a chain or a map. */
export interface NftListing {
  readonly nftables: readonly {
    readonly table?: { readonly family: string; readonly name: string };
    readonly rule?: { readonly table: string; readonly expr?: readonly Statement[] };
    readonly map?: {
      readonly table: string;
      readonly elem?: readonly (readonly [{ readonly concat?: readonly unknown[] }, unknown])[];
    };
  }[];
}

const PROTOCOLS: readonly unknown[] = ['tcp', 'udp'];

/** The ports of the rules of a chain that change destinations, as the runtimes of pods write them. */
export function portsOfRules({ nftables }: NftListing): readonly PublishedPort[] {
  return nftables.flatMap(({ rule }) => {
    if (!rule?.expr?.some(({ dnat }) => dnat !== undefined)) return [];
    const matched = (field: string) => rule.expr?.find(({ match }) => match?.left.payload?.field === field)?.match;
    const port = matched('dport');
    const address = matched('daddr')?.right ?? ANY_ADDRESS;
    const published = publishedPort(port?.left.payload?.protocol, address, port?.right);
    return published ? [{ ...published, owner: rule.table }] : [];
  });
}

/** The ports in the keys of a map: protocol and port, or address, protocol and port. */
export function portsOfMap({ nftables }: NftListing): readonly PublishedPort[] {
  return nftables.flatMap(({ map }) =>
    (map?.elem ?? []).flatMap(([{ concat = [] }]) => {
      const [address, protocol, port] = concat.length === 2 ? [ANY_ADDRESS, ...concat] : concat;
      const published = publishedPort(protocol, address, port);
      return published ? [{ ...published, owner: map!.table }] : [];
    }),
  );
}

const CHAIN_OF_NETWORK = /^-A CNI-HOSTPORT-DNAT .*"dnat name: \\"([^"\\]+)\\" .* -j (CNI-DN-\w+)$/;
const DESTINATION = /^-A (\S+) (?:-d (\S+?)(?:\/32)? )?(?:! -i \S+ )?-p (tcp|udp) .*--dport (\d+) .*-j DNAT /;

/** Returns the ports in the output of `iptables-save`. The CNI plugin `portmap` names the network of its chains. */
export function portsOfIptables(text: string): readonly PublishedPort[] {
  const lines = text.split('\n');
  const networks = new Map(
    lines.flatMap((line) => {
      const [, network, chain] = CHAIN_OF_NETWORK.exec(line) ?? [];
      return network !== undefined && chain !== undefined ? [[chain, network] as const] : [];
    }),
  );
  return lines.flatMap((line) => {
    const [, chain = '', address = ANY_ADDRESS, protocol, port] = DESTINATION.exec(line) ?? [];
    const published = publishedPort(protocol, address, Number(port));
    return published ? [{ ...published, owner: networks.get(chain) ?? chain }] : [];
  });
}

function publishedPort(protocol: unknown, address: unknown, port: unknown): NetworkPort | undefined {
  if (!PROTOCOLS.includes(protocol) || typeof address !== 'string' || !Number.isInteger(port)) return undefined;
  return { protocol: protocol as NetworkPort['protocol'], address, port: port as number };
}
