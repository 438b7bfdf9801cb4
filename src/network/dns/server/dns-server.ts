/** The DNS server of a cluster: its zone, its listeners, and the way to the host's name servers. */
import { BlockList, isIPv4 } from 'node:net';
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Server } from '../upstream/exchange.ts';
import { Forwarder } from '../upstream/forwarder.ts';
import { hostServers } from '../upstream/resolv-conf.ts';
import { NO_UPSTREAMS, serversFor, type Upstreams } from '../upstream/stub-domains.ts';
import { addressRange, isInRange } from '../zone/address-ranges.ts';
import { Authority } from '../zone/authority.ts';
import { Zone, type ZoneChange } from '../zone/zone.ts';
import { DnsCounters } from './counters.ts';
import { listenMetrics } from './metrics.ts';
import { Resolver } from './resolver.ts';
import { type ListenTcpOptions, listenTcp } from './tcp.ts';
import { type Listening, listenUdp } from './udp.ts';

/** Plain values, so that they can be passed to a thread. */
export interface DnsSettings {
  /** Listens on each of them, with UDP and TCP. */
  readonly listen: readonly Server[];
  /** Where metrics are served; undefined: nowhere. */
  readonly metrics?: Server;
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

export interface DnsTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The content of the host's resolv.conf. */
  readonly readResolvConf: () => Promise<string>;
}

export interface DnsServer {
  /** Where it listens. */
  readonly ports: readonly number[];
  /** Where metrics are served. */
  readonly metricsPort: number | undefined;
  readonly counters: DnsCounters;
  /** Takes over changes of the zone. Names of the cluster are answered once the zone was complete. */
  apply(changes: readonly ZoneChange[], isComplete?: boolean): void;
  /** Replaces the clients besides those of the ranges. */
  allow(clients: readonly string[]): void;
  /** Asks other servers for names that are not the cluster's. */
  forward(upstreams: Upstreams): void;
  close(): Promise<void>;
}

const DNS_PORT = 53;
const MAX_PORT_ATTEMPTS = 20;
/** For whether an address may ask: looking it up takes longer than an answer. */
const MAX_DECISION_BYTES = 1024 * 1024;

/** Rejects when a port cannot be used. */
export async function startDnsServer(settings: DnsSettings, tools: DnsTools): Promise<DnsServer> {
  const { domain, serviceAddress, upstream } = settings;
  const zone = new Zone();
  const ranges = settings.ranges.map(addressRange);
  const authority = new Authority(zone, { domain, ranges, serviceAddress });
  const counters = new DnsCounters();
  let isComplete = false;
  let clients = clientList(settings.clients);
  const decisions = new BoundedMap<boolean>({ maxBytes: MAX_DECISION_BYTES, bytesOf: () => 8 });
  const own = settings.listen.filter(({ port }) => port === DNS_PORT).map(({ address }) => address);
  let upstreams = NO_UPSTREAMS;
  const usual = upstream
    ? async () => upstream
    : hostServers({
        clock: tools.clock,
        read: tools.readResolvConf,
        own: new Set([...own, ...(serviceAddress === undefined ? [] : [serviceAddress])]),
      });
  const forwarder = new Forwarder({ ...tools, servers: async (name) => serversFor(upstreams, name) ?? usual() });
  const isAllowed = (client: string) => {
    const known = decisions.get(client);
    if (known !== undefined) return known;
    const found = isInRange(clients, client) || ranges.some(({ addresses }) => isInRange(addresses, client));
    decisions.set(client, found);
    return found;
  };
  const resolver = new Resolver({
    authority: () => (isComplete ? authority : undefined),
    isOwnName: (name) => authority.answer({ name, type: 0 }) !== undefined,
    forwarder,
    isAllowed,
    counters,
  });
  const listening: Listening[] = [];
  let metrics: Listening | undefined;
  const close = async () => {
    await Promise.all([...listening, ...(metrics ? [metrics] : [])].map((each) => each.close()));
  };
  try {
    for (const { address, port } of settings.listen) {
      const options = { address, resolver, log: tools.log, clock: tools.clock };
      listening.push(await listenBoth({ ...options, port }));
    }
    if (settings.metrics) metrics = await listenMetrics({ ...settings.metrics, counters, isAllowed });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ports: listening.map(({ port }) => port),
    metricsPort: metrics?.port,
    counters,
    apply(changes, isWhole = true) {
      for (const change of changes) zone.apply(change);
      authority.changed();
      isComplete ||= isWhole;
    },
    allow(next) {
      clients = clientList(next);
      decisions.clear();
    },
    forward(next) {
      upstreams = next;
      forwarder.forget();
    },
    close,
  };
}

/** Listens with UDP and TCP on the same port. A port that is free for one of them may be taken for the other. */
async function listenBoth(options: ListenTcpOptions): Promise<Listening> {
  for (let attempt = 1; ; attempt++) {
    const udp = await listenUdp(options);
    try {
      const tcp = await listenTcp({ ...options, port: udp.port });
      const close = async () => {
        await Promise.all([udp.close(), tcp.close()]);
      };
      return { port: udp.port, close };
    } catch (error) {
      await udp.close();
      if (options.port !== 0 || attempt >= MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

function clientList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  for (const address of addresses) list.addAddress(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return list;
}
