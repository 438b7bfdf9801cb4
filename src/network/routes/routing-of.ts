/** Computes the routes of a machine from the nodes of the cluster. */
import type { DeepReadonly } from '../../api/object-types.ts';
import type { Node as NodeObject } from '../../kinds/groups/core/node/node.ts';
import { canonicalRange, isPartOfRange } from '../../kinds/shapes/meta/addresses/ip-range.ts';
import type { Link, Route, Routing, TunnelPeer } from '../kernel/routing/router.ts';

type Node = DeepReadonly<NodeObject>;

export interface RoutingFacts {
  readonly nodes: readonly Node[];
  /** The name of the node that has the network of this machine. */
  readonly node: string;
  readonly links: readonly Link[];
  readonly mode: RouteMode;
  /** Distinguishes the tunnels of clusters on one machine. */
  readonly vni: number;
}

export interface RoutingPlan extends Routing {
  /** Nodes whose ranges are not routed, and why. */
  readonly rejected: readonly { readonly node: string; readonly reason: string }[];
}

/** Address of the machine through which a node without its own link is reached. */
export const GATEWAY_ANNOTATION = 'node.kubernetes.io/gateway';

/** VXLAN as IANA registered it. */
const TUNNEL_PORT = 4789;
/** The headers of Ethernet, IPv4, UDP and VXLAN. */
const TUNNEL_OVERHEAD_BYTES = 50;
const DEFAULT_MTU = 1_500;
/** The largest range that a node may have: 65,536 addresses. */
const MIN_PREFIX_LENGTH = 16;

export const NO_ROUTES: RoutingPlan = { routes: [], tunnel: undefined, rejected: [] };

/** Nodes behind this machine, and those without addresses, have no routes. Addresses are IPv4. */
export function routingOf({ nodes, node, links, mode, vni }: RoutingFacts): RoutingPlan {
  const own = nodes.find(({ metadata }) => metadata.name === node);
  const ownAddress = own && internalAddress(own);
  if (mode === 'none' || !own || ownAddress === undefined) return NO_ROUTES;
  const link = links.find(({ addresses }) => addresses.some((each) => addressPart(each) === ownAddress));
  const taken = [...links.flatMap(({ addresses }) => addresses.flatMap((each) => ipv4Range(each) ?? []))];
  taken.push(...podRanges(own));
  const routes: Route[] = [];
  const peers = new Map<string, TunnelPeer>();
  const rejected: { node: string; reason: string }[] = [];
  for (const other of nodes.filter((each) => each !== own).sort(byName)) {
    const name = other.metadata.name ?? '';
    const address = internalAddress(other);
    const gateway = gatewayOf(other) ?? address;
    if (gateway === undefined || address === undefined || gateway === ownAddress) continue;
    const ranges = podRanges(other);
    const wrong = ranges.find(
      (range) => lengthOf(range) < MIN_PREFIX_LENGTH || taken.some((each) => overlaps(each, range)),
    );
    if (wrong) {
      rejected.push({ node: name, reason: `${wrong} is too large, or overlaps with a range that is in use` });
      continue;
    }
    taken.push(...ranges);
    // A node behind another machine has an address that only that one knows.
    const texts = [...ranges, ...(gateway === address ? [] : [`${address}/32`])];
    if (texts.length === 0) continue;
    const isDirect = mode === 'direct' || (mode === 'auto' && links.some((each) => isOnLink(each, gateway)));
    if (isDirect) routes.push(...texts.map((range) => ({ range, via: gateway })));
    else {
      const known = peers.get(gateway);
      peers.set(gateway, known ? { ...known, ranges: [...known.ranges, ...texts] } : peerAt(gateway, ranges, texts));
    }
  }
  const [inside] = podRanges(own).map(addressPart);
  if (peers.size === 0 || inside === undefined) return { routes, tunnel: undefined, rejected };
  const mtu = (link?.mtu ?? DEFAULT_MTU) - TUNNEL_OVERHEAD_BYTES;
  const here = { local: ownAddress, address: inside, mac: macOf(ownAddress), mtu };
  return { routes, tunnel: { vni, port: TUNNEL_PORT, ...here, peers: [...peers.values()] }, rejected };
}

/** A number for the tunnel that all nodes of a cluster compute alike, from the UID of an object that each of them reads. */
export function tunnelNumber(uid: string): number {
  const digits = Number.parseInt(uid.replaceAll('-', '').slice(0, 6), 16);
  // Others use 0 and 1.
  return Number.isNaN(digits) ? 2 : 2 + (digits % (2 ** 24 - 2));
}

/** The first address of the pods' range belongs to no pod. */
function peerAt(remote: string, ranges: readonly Ipv4Range[], texts: readonly string[]): TunnelPeer {
  return { remote, gateway: addressPart(ranges[0] ?? remote), mac: macOf(remote), ranges: texts };
}

/** Returns the MAC address for an address: every machine computes those of the others. */
function macOf(address: string): string {
  const parts = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `0a:58:${parts.join(':')}`;
}

function podRanges({ spec }: Node): readonly Ipv4Range[] {
  return (spec.podCIDRs ?? []).flatMap((text) => ipv4Range(text) ?? []);
}

function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type, address }) => type === 'InternalIP' && isIpv4(address))?.address;
}

function gatewayOf({ metadata }: Node): string | undefined {
  const address = metadata.annotations?.[GATEWAY_ANNOTATION];
  return address !== undefined && isIpv4(address) ? address : undefined;
}

function isOnLink({ addresses }: Link, address: string): boolean {
  const range = ipv4Range(`${address}/32`);
  return addresses.some((each) => {
    const subnet = ipv4Range(each);
    return range !== undefined && subnet !== undefined && lengthOf(subnet) < 32 && overlaps(subnet, range);
  });
}

function byName(a: Node, b: Node): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** A range of IPv4 addresses in its canonical form, with the bits of the host cleared: `10.0.0.0/8`. */
type Ipv4Range = string;

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ADDRESS = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

const isIpv4 = (text: string) => ADDRESS.test(text);

const addressPart = (range: string) => range.split('/')[0] ?? '';

const lengthOf = (range: Ipv4Range) => Number(range.split('/')[1]);

/** Undefined for text that is no range of IPv4 addresses. */
const ipv4Range = (text: string): Ipv4Range | undefined =>
  isIpv4(addressPart(text)) ? canonicalRange(text) : undefined;

const overlaps = (a: Ipv4Range, b: Ipv4Range) => isPartOfRange(a, b) || isPartOfRange(b, a);

/**
 * Transport of packets to other machines: over a shared link, wrapped in VXLAN, whichever of the two fits, or not at
 * all.
 */
export const ROUTE_MODES = ['auto', 'direct', 'vxlan', 'none'] as const;
export type RouteMode = (typeof ROUTE_MODES)[number];
