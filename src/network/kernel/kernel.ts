/** Contract of the privileged part: one nftables table for each node, its connections, and settings of its network. */

import type { Server } from 'node:net';

/** A set or a map. */
export interface SetDefinition {
  readonly name: string;
  readonly kind: 'set' | 'map';
  /** Type in the syntax of nft: `type ipv4_addr . inet_service : verdict`. */
  readonly type: string;
  readonly flags?: readonly ('dynamic' | 'timeout' | 'interval')[];
  readonly timeoutSeconds?: number;
}

/** Point at which the kernel calls a chain. */
export interface Hook {
  readonly type: 'filter' | 'nat';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  readonly priority: number;
}

/** Change of the table. `replace-table` removes its content, and comes first if at all. */
export type Command =
  | { readonly do: 'replace-table' }
  | { readonly do: 'add-set'; readonly set: SetDefinition }
  | { readonly do: 'delete-set'; readonly set: string }
  | { readonly do: 'add-chain'; readonly chain: string; readonly hook?: Hook }
  | { readonly do: 'flush-chain'; readonly chain: string }
  | { readonly do: 'delete-chain'; readonly chain: string }
  | { readonly do: 'add-rule'; readonly chain: string; readonly rule: string }
  | { readonly do: 'add-elements'; readonly set: string; readonly elements: readonly string[] }
  | { readonly do: 'delete-elements'; readonly set: string; readonly elements: readonly string[] };

/** Connections to forget: those to an address that were sent to another destination than these. */
export interface StaleConnections {
  readonly protocol: 'udp';
  /** Address; undefined: any address of the node, for node ports. */
  readonly address: string | undefined;
  readonly port: number;
  /** The destinations that may stay, as `address port`. */
  readonly keep: readonly string[];
}

export interface NetworkSettings {
  /**
   * True when packets between the ports of a bridge pass nftables: then replies of pods on one bridge are translated
   * back.
   */
  readonly filtersBridges: boolean;
}

export interface Kernel {
  /** Performs all commands or none. Rejects with nft's message. */
  apply(table: string, commands: readonly Command[]): Promise<void>;
  /** Removes the table. A missing table is not an error. */
  remove(table: string): Promise<void>;
  /** Rejects when connections cannot be forgotten on this machine. */
  forget(connections: readonly StaleConnections[]): Promise<void>;
  /**
   * Turns on the prerequisites of packets to services: forwarding, and nftables for bridges if the machine supports
   * that.
   */
  prepare(): Promise<NetworkSettings>;
  /** Applies `conntrack-settings.ts` to connection tracking, as far as the settings exist and can be written. */
  setConntrack(): Promise<void>;
  /** Makes the server listen on a port of all addresses of the node. Rejects when it cannot. */
  listen(server: Server, port: number): Promise<void>;
  /** Lets the node send packets from its loopback address to pods behind the interface with an address in these ranges. */
  routeLoopback(podRanges: readonly string[]): Promise<void>;
}
