/** Runs the cluster's DNS server beside nodes with real pods, and keeps the Service `kube-dns` that stands for it. */
import { isApiError, isLostRace } from '../../api/errors.ts';
import { soon } from '../../base/event-loop/soon.ts';
import { eachTurn } from '../../base/event-loop/turn-budget.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import { type Client, createClient } from '../../client/client.ts';
import { CLUSTER_DNS } from '../../client/component-users.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { Change } from '../../client/informer/object-cache.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Endpoints } from '../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { DNS_SERVICE, ensureDnsService, publishDnsEndpoint } from '../../network/dns/feed/dns-service.ts';
import { DNS_CONFIGURATION, ZoneFeed, type ZoneReport } from '../../network/dns/feed/zone-feed.ts';
import { NO_UPSTREAMS, parseUpstreams, type Upstreams } from '../../network/dns/upstream/stub-domains.ts';
import type { Server } from '../../server/index.ts';
import { advertisedAddress, machineAddresses } from '../addresses.ts';
import type { ApiAddress, Environment } from '../context.ts';
import { listenNear, type OpeningNetwork } from './network.ts';

const DNS_PORT = 53;
/** That of CoreDNS. */
const METRICS_PORT = 9153;
const MAX_ATTEMPTS = 5;
/** The service whose endpoints are the servers of the cluster. */
const SERVICE_LABEL = 'kubernetes.io/service-name';
const SERVERS = {
  namespace: 'default',
  name: 'kubernetes',
  label: SERVICE_LABEL,
  selector: `${SERVICE_LABEL}=kubernetes`,
} as const;

export interface DnsOptions extends Environment {
  readonly api: ApiAddress;
  readonly network: OpeningNetwork;
  readonly server: Pick<Server, 'direct'>;
  /** True when other servers on the same store serve the same, too. */
  readonly isShared: boolean;
}

export interface ClusterDns {
  /** For the resolv.conf of pods. */
  readonly resolvers: readonly string[];
  /** The address of the Service. */
  readonly clusterIp: string;
  readonly address: string;
  readonly port: number;
}

/** Resolves when the server listens and its Service exists. */
export async function startDns(options: DnsOptions): Promise<ClusterDns> {
  const { api, network, server, isShared, cleanup, clock, random, log, openPorts } = options;
  const { clusterDomain, bindAddress, serviceClusterIpRange } = api;
  const { dnsAddress: wanted } = network;
  const address = advertisedAddress(bindAddress, serviceClusterIpRange);
  const client = createClient(directTransport(server.direct(CLUSTER_DNS)));
  const dns = await network.daemon;
  const { port } = await listenNear(dns, { kinds: ['dns-udp', 'dns-tcp'], address, port: DNS_PORT });
  const { port: metricsPort } = await listenNear(dns, { kinds: ['dns-metrics'], address, port: METRICS_PORT });
  openPorts.push({ address, port, what: 'DNS, for pods' });
  openPorts.push({ address, port: metricsPort, what: 'metrics of DNS' });
  let isListening = true;
  const publish = async () => {
    const found = await ensureDnsService(client, wanted, { port, metricsPort });
    await retryOnConflict(async () => {
      const servers = isShared ? await livingServers(client) : [];
      await publishDnsEndpoint(client, { address, port, metricsPort, isListening }, (other) => servers.includes(other));
    });
    return found;
  };
  const clusterIp = await publish();
  const stop = new AbortController();
  const informers = new InformerFactory({ client, clock, random, log, signal: stop.signal });
  let markComplete = () => {};
  network.awaits(
    new Promise<void>((resolve) => {
      markComplete = resolve;
    }),
  );
  const report: ZoneReport = (changes, isComplete) => {
    dns.zone(changes, isComplete);
    if (isComplete) markComplete();
  };
  const feed = new ZoneFeed(informers, clusterDomain, report);
  dns.onRestart(() => feed.repeat());
  const upkeep = new ReconcileLoop({
    clock,
    random,
    log,
    turns: eachTurn,
    isExpected: isLostRace,
    failure: 'the service of the DNS server was not restored',
    reconcile: async () => void (await publish()),
  });
  dns.onListening((next) => {
    isListening = next;
    upkeep.add(DNS_SERVICE.name);
  });
  keepService(informers, () => upkeep.add(DNS_SERVICE.name));
  const keeping = upkeep.run(stop.signal);
  followUpstreams(informers, (upstreams) => dns.forward(upstreams));
  followNodes(informers, (addresses) => dns.allow([...machineAddresses(), ...addresses]));
  feed.start().catch((error) => log.error('the zone of the DNS server does not follow the API', { error }));
  cleanup.add(async () => {
    stop.abort();
    feed.stop();
    await Promise.all([informers.stopped(), keeping]);
  });
  // Without root, no packet finds its way to the address of a Service.
  const reached = process.getuid?.() === 0 ? [clusterIp] : port === DNS_PORT ? [address] : [];
  return { resolvers: reached, clusterIp, address, port };
}

/** The addresses of the servers of the cluster, which their leases decide. */
async function livingServers(client: Client): Promise<readonly string[]> {
  const { items } = await client.of(EndpointSlice).in(SERVERS.namespace).list({ labelSelector: SERVERS.selector });
  return items.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses));
}

/** Another server may write the same object at the same time. */
async function retryOnConflict(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isApiError(error, 'Conflict', 'AlreadyExists')) throw error;
    }
  }
}

/** Publishes the service and where it leads again when somebody deletes them, and when a server comes or goes. */
function keepService(informers: InformerFactory, again: () => void): void {
  const onChange = ({ type, object: { metadata } }: Change<KubeObject>) => {
    const isOurs = metadata.name === DNS_SERVICE.name && metadata.namespace === DNS_SERVICE.namespace;
    if (type === 'delete' && isOurs) again();
    const isOfServers = metadata.namespace === SERVERS.namespace && metadata.labels?.[SERVERS.label] === SERVERS.name;
    if (isOfServers && type !== 'add') again();
  };
  // Services and slices are followed anyway. Of Endpoints, only one object matters.
  const selection = { namespace: DNS_SERVICE.namespace, fieldSelector: `metadata.name=${DNS_SERVICE.name}` };
  informers.of(Service).onChange(onChange);
  informers.of(EndpointSlice).onChange(onChange);
  informers.of(Endpoints, selection).onChange(onChange);
}

/** Calls back with the name servers that the configuration of the cluster names. */
function followUpstreams(informers: InformerFactory, report: (upstreams: Upstreams) => void): void {
  let last = JSON.stringify(NO_UPSTREAMS);
  informers.of(ConfigMap, DNS_CONFIGURATION).onChange(({ type, object }) => {
    const upstreams = parseUpstreams(type === 'delete' ? undefined : object.data);
    if (JSON.stringify(upstreams) === last) return;
    last = JSON.stringify(upstreams);
    report(upstreams);
  });
}

/** Calls back with the addresses of the nodes: pods that are not on this machine may ask with those. */
function followNodes(informers: InformerFactory, report: (addresses: readonly string[]) => void): void {
  const nodes = informers.of(Node);
  const changed = soon(() => {
    const addresses = nodes.lister.list().flatMap(({ status }) => status?.addresses ?? []);
    report(addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address));
  });
  nodes.onChange((change) => {
    const before = change.type === 'update' ? change.old.status?.addresses : undefined;
    if (JSON.stringify(before) !== JSON.stringify(change.object.status?.addresses)) changed();
  });
}
