/**
 * Names that a DNS server answers and the clients it answers to: the zone of a cluster, its clients, and the way to
 * other name servers.
 */
import { BlockList, isIPv4 } from 'node:net';
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Server } from '../upstream/exchange.ts';
import { Forwarder } from '../upstream/forwarder.ts';
import { hostServers } from '../upstream/resolv-conf.ts';
import { NO_UPSTREAMS, serversFor, type Upstreams } from '../upstream/stub-domains.ts';
import { type AddressRange, addressRange, isInRange } from '../zone/address-ranges.ts';
import { Authority } from '../zone/authority.ts';
import { Zone, type ZoneChange } from '../zone/zone.ts';

/** Plain values, so that they can be sent to another process. */
export interface DnsSettings {
  /** `cluster.local`. */
  readonly domain: string;
  /** The cluster's own ranges of addresses: `10.96.0.0/16`. */
  readonly ranges: readonly string[];
  readonly serviceAddress: string | undefined;
  /** Addresses besides those of the ranges that may ask. */
  readonly clients: readonly string[];
  /** Upstream servers; undefined: those of the host's resolv.conf. */
  readonly upstream: readonly (string | Server)[] | undefined;
}

export interface NamesTools extends Pick<Tools, 'clock' | 'random'> {
  /** The content of the host's resolv.conf. */
  readonly readResolvConf: () => Promise<string>;
  /** Addresses on whose port 53 this server listens: they are no upstream servers. */
  readonly ownAddresses: () => readonly string[];
}

/** Memory for decisions about clients: looking one up takes longer than an answer. */
const MAX_DECISION_BYTES = 1024 * 1024;

export class DnsNames {
  readonly forwarder: Forwarder;
  readonly #authority: Authority;
  readonly #zone = new Zone();
  readonly #ranges: readonly AddressRange[];
  readonly #decisions = new BoundedMap<boolean>({ maxBytes: MAX_DECISION_BYTES, bytesOf: () => 8 });
  #clients: BlockList;
  #upstreams = NO_UPSTREAMS;
  #isComplete = false;

  constructor({ domain, ranges, serviceAddress, clients, upstream }: DnsSettings, tools: NamesTools) {
    this.#ranges = ranges.map(addressRange);
    this.#authority = new Authority(this.#zone, { domain, ranges: this.#ranges, serviceAddress });
    this.#clients = clientList(clients);
    const ofService = serviceAddress === undefined ? [] : [serviceAddress];
    const own = () => new Set([...tools.ownAddresses(), ...ofService]);
    const usual = upstream
      ? async () => upstream
      : hostServers({ clock: tools.clock, read: tools.readResolvConf, own });
    const servers = async (name: string) => serversFor(this.#upstreams, name) ?? usual();
    this.forwarder = new Forwarder({ ...tools, servers });
  }

  /** Names of the cluster are answered once the zone was complete. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Authority of the zone; undefined until it was complete. */
  get authority(): Authority | undefined {
    return this.#isComplete ? this.#authority : undefined;
  }

  isOwnName(name: string): boolean {
    return this.#authority.answer({ name, type: 0 }) !== undefined;
  }

  /** Reports whether an address may ask. */
  isAllowed(client: string): boolean {
    const known = this.#decisions.get(client);
    if (known !== undefined) return known;
    const found =
      isInRange(this.#clients, client) || this.#ranges.some(({ addresses }) => isInRange(addresses, client));
    this.#decisions.set(client, found);
    return found;
  }

  /** Takes over changes of the zone. `isComplete`: nothing else has changed. */
  apply(changes: readonly ZoneChange[], isComplete = true): void {
    for (const change of changes) this.#zone.apply(change);
    this.#authority.changed();
    this.#isComplete ||= isComplete;
  }

  /** Replaces the clients besides those of the ranges. */
  allow(clients: readonly string[]): void {
    this.#clients = clientList(clients);
    this.#decisions.clear();
  }

  /** Asks other servers for names that are not the cluster's. */
  forward(upstreams: Upstreams): void {
    this.#upstreams = upstreams;
    this.forwarder.forget();
  }
}

function clientList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  for (const address of addresses) list.addAddress(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return list;
}
