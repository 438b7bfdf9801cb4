/**
 * Writes commands for `ip -batch` and `bridge -batch` that lead from the present routes of an owner to the desired
 * ones.
 */

import { address, range as checkedRange, macAddress, wholeNumber } from '../values.ts';
import type { Routing, Tunnel, TunnelPeer } from './router.ts';

/** Routing of an owner as the kernel has it. */
export interface CurrentRouting {
  readonly routes: readonly { readonly range: string; readonly device: string }[];
  readonly device: CurrentDevice | undefined;
}

export interface CurrentDevice extends Pick<Tunnel, 'vni' | 'port' | 'local' | 'mac'> {
  /** Addresses inside of the tunnel that have a hardware address, and hardware addresses that have a machine. */
  readonly gateways: readonly string[];
  readonly macs: readonly string[];
}

/** Commands to run in this order. */
export interface RoutingCommands {
  readonly device: readonly string[];
  readonly bridge: readonly string[];
  readonly routes: readonly string[];
}

/** Marks routes of this program; its metric tells those of one owner from those of another. */
export const ROUTE_PROTOCOL = 150;

/** Names of interfaces have at most 15 characters. Throws for other owners than nodes. */
export function deviceOf(owner: string): string {
  return `qdx${idOf(owner)}`;
}

export function metricOf(owner: string): number {
  return Number.parseInt(idOf(owner), 16) % 2 ** 31 || 1;
}

function idOf(owner: string): string {
  const [, id] = /^qd([0-9a-f]{8})$/.exec(owner) ?? [];
  if (id === undefined) throw new Error(`"${owner}" is not the id of a node`);
  return id;
}

/** Throws when something is no address, range or number. */
export function routingCommands(owner: string, current: CurrentRouting, wanted: Routing): RoutingCommands {
  const name = deviceOf(owner);
  const mark = `proto ${ROUTE_PROTOCOL} metric ${metricOf(owner)}`;
  const { tunnel } = wanted;
  const kept = isSameDevice(current.device, tunnel) ? current.device : undefined;
  const peers = tunnel?.peers ?? [];
  const isDeleted = current.device !== undefined && !kept;
  const ranges = new Set([...wanted.routes.map(({ range }) => range), ...peers.flatMap((peer) => peer.ranges)]);
  return {
    device: [
      ...(isDeleted ? [`link delete dev ${name}`] : []),
      ...(tunnel ? deviceCommands(name, tunnel, kept !== undefined) : []),
    ],
    bridge: [
      ...stale(kept?.macs, peers, 'mac').map((mac) => `fdb delete ${macAddress(mac)} dev ${name} self`),
      ...peers.map(
        ({ mac, remote }) => `fdb replace ${macAddress(mac)} dev ${name} dst ${address(remote)} self permanent`,
      ),
    ],
    routes: [
      ...current.routes
        // Routes of a deleted device are gone with it.
        .filter(({ range, device }) => !ranges.has(range) && !(isDeleted && device === name))
        .map(({ range }) => `route delete ${checkedRange(range)} ${mark}`),
      ...stale(kept?.gateways, peers, 'gateway').map((gateway) => `neigh delete ${address(gateway)} dev ${name}`),
      ...wanted.routes.map(({ range, via }) => `route replace ${checkedRange(range)} via ${address(via)} ${mark}`),
      ...peers.flatMap(({ gateway, mac, ranges: behind }) => [
        `neigh replace ${address(gateway)} lladdr ${macAddress(mac)} dev ${name} nud permanent`,
        ...behind.map(
          (range) => `route replace ${checkedRange(range)} via ${address(gateway)} dev ${name} onlink ${mark}`,
        ),
      ]),
    ],
  };
}

function deviceCommands(name: string, tunnel: Tunnel, exists: boolean): readonly string[] {
  const { vni, port, local, mac, mtu } = tunnel;
  const type = `vxlan id ${wholeNumber(vni)} local ${address(local)} dstport ${wholeNumber(port)} nolearning`;
  return [
    ...(exists ? [] : [`link add ${name} address ${macAddress(mac)} type ${type}`]),
    `link set ${name} mtu ${wholeNumber(mtu)} up`,
    `addr replace ${address(tunnel.address)}/32 dev ${name}`,
  ];
}

function isSameDevice(device: CurrentDevice | undefined, tunnel: Tunnel | undefined): boolean {
  if (!device || !tunnel) return false;
  return (['vni', 'port', 'local', 'mac'] as const).every((field) => device[field] === tunnel[field]);
}

function stale(
  known: readonly string[] = [],
  peers: readonly TunnelPeer[],
  field: 'mac' | 'gateway',
): readonly string[] {
  return known.filter((each) => !peers.some((peer) => peer[field] === each));
}
