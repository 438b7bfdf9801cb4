/** Starts the network of a node with real pods: services, policies and routes; without rights, a proxy with ordinary sockets. */
import type { Tools } from '../../../base/tools.ts';
import type { Client } from '../../../client/client.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PORTS_IN_USE_ANNOTATION, portsInUseValue } from '../../../kinds/groups/core/node/ports-in-use.ts';
import type { AttachedDaemon } from '../../../network/daemon/attached-daemon.ts';
import { LocalForwarding } from '../../../network/kernel/forwarding.ts';
import { type LedPort, LocalKernel, listening } from '../../../network/kernel/local-kernel.ts';
import { LocalRouter } from '../../../network/kernel/routing/local-router.ts';
import { ofIp, SETS } from '../../../network/nftables/layout.ts';
import { NftablesProxy } from '../../../network/nftables/nftables-proxy.ts';
import { ownListenersTable } from '../../../network/nftables/own-listeners.ts';
import { PolicyWatch } from '../../../network/proxy/policy-watch.ts';
import { RouteWatch } from '../../../network/proxy/route-watch.ts';
import { ServiceProxy } from '../../../network/proxy/service-proxy.ts';
import { reportUnenforcedPolicies } from '../../../network/proxy/unenforced-policies.ts';
import type { RouteMode } from '../../../network/routes/routing-of.ts';
import type { RuleApplier } from '../../../network/rules/rule-set.ts';
import { withLocalApi } from '../../../network/userspace/local-api.ts';
import { UserspaceProxy } from '../../../network/userspace/userspace-proxy.ts';
import type { ApiServerAddress } from '../../../node/agent/objects.ts';
import { findProgram } from '../../../node/containerd/own/machine.ts';
import type { NodeOptions, RulesOwner, RunningServices, ServicesNode } from '../options.ts';
import { networkPortsInUse, ownListeners } from './ports-in-use.ts';

export interface ServicesOptions extends Tools, Pick<NodeOptions, 'dataDirectory' | 'watchSeconds' | 'path'> {
  /** Reads Services and EndpointSlices, Nodes, and all pods, namespaces and policies. */
  readonly client: Client;
  /** Acts as the node; undefined: `client` does. */
  readonly nodeClient?: Client;
  readonly node: ServicesNode;
  /** How the pods of other machines are reached. */
  readonly podRoutes: RouteMode;
  /** Resolves with true when rules and routes stay after a stop. */
  readonly keepsRules: () => Promise<boolean>;
  /** Opens what listens where there are no rights for rules, and goes on when this program ends; undefined: this process listens. */
  readonly openDaemon?: () => Promise<ServiceDaemon | undefined>;
  /** Where pods reach the API on this machine then; undefined: nowhere. */
  readonly localApi?: ApiServerAddress | undefined;
  /** Called when Services are served in that way. */
  readonly onServed?: () => void;
}

type ServiceDaemon = Pick<AttachedDaemon, 'servicesOf' | 'ports'>;

/** Starts the network of a node. Services are served a moment later. */
export async function startServices(options: ServicesOptions): Promise<RunningServices> {
  const { client, clock, random, log, node, path, watchSeconds } = options;
  const kernel = await openKernel(path, node.networkNamespace);
  const table = serviceTable(node.name, node.shortName);
  const onMachine = { ...node, path, dataDirectory: options.dataDirectory };
  const common = { client, clock, random, log, node: node.name, watchSeconds };
  const serve = (applier: RuleApplier, daemon?: ServiceDaemon) =>
    new ServiceProxy({
      ...common,
      addresses: node.addresses,
      applier,
      listen: (server, port) => (kernel ? kernel.listen(server, port) : listening(server, port)),
      listeners: () => networkPortsInUse(onMachine, daemon?.ports),
      reportPortsInUse: (ports) => annotatePortsInUse(options.nodeClient ?? client, node.name, ports),
    });
  if (!kernel) {
    const daemon = await options.openDaemon?.();
    const ofServices = daemon?.servicesOf(node.name) ?? new UserspaceProxy({ clock, random, log });
    const { localApi } = options;
    const applier = localApi ? withLocalApi(ofServices, localApi) : ofServices;
    const proxy = serve(applier, daemon);
    void proxy.applied.then(options.onServed);
    const stopReports = reportUnenforcedPolicies(common);
    return {
      untilIsolated: async () => {},
      untilDrained: (addresses, signal) => proxy.drained(addresses, signal),
      async stop() {
        await stopReports();
        await proxy.stop();
        if (daemon && (await options.keepsRules())) return;
        await applier.close();
      },
    };
  }
  await kernel
    .apply(listenersTable(table), ownListenersTable(await ownListeners(onMachine)))
    .catch((error: unknown) => log.warn('rules of pods may take ports of this program', { error: String(error) }));
  const router = node.networkNamespace === undefined ? await openRouter(path) : undefined;
  const routes =
    router &&
    new RouteWatch({
      ...common,
      kernel,
      router,
      owner: node.shortName,
      podRanges: node.podCIDRs,
      table: routesTable(table),
      mode: options.podRoutes,
    });
  const forwarding = await openForwarding(path);
  // The packets of a node with a network of its own pass the machine, too.
  const ownAddresses = node.networkNamespace === undefined ? [] : node.addresses.map(hostRange);
  forwarding
    ?.admit(table, [...node.podCIDRs, ...ownAddresses])
    .catch((error: unknown) =>
      log.warn('packets of pods may be dropped by a firewall of the machine', { error: String(error) }),
    );
  const applier = new NftablesProxy({ kernel, table, podRanges: node.podCIDRs, clock, log });
  const policies = new PolicyWatch({ ...common, applier, running: node.runningPods });
  let proxy: ServiceProxy | undefined;
  let isStopped = false;
  // An older table goes on until policies are known: the server may not answer now.
  const served = policies.ready.then(() => {
    if (!isStopped) proxy = serve(applier);
    return proxy?.applied;
  });
  return {
    async untilIsolated(pod, addresses) {
      // Before that, there are no rules at all.
      await served;
      await policies.admit(pod, addresses);
    },
    untilDrained: async (addresses, signal) => proxy?.drained(addresses, signal),
    async stop() {
      isStopped = true;
      await Promise.all([policies.stop(), proxy?.stop(), routes?.stop()]);
      if (await options.keepsRules()) return;
      const removed = applier
        .close()
        .then(() => kernel.remove(listenersTable(table)))
        .then(() => forwarding?.remove(table))
        .then(() => router && removeRoutes({ kernel, router, table }, node.shortName));
      // The node stops all the same; the next start replaces what is left.
      await removed.catch((error) => log.warn('rules of the node could not be removed', { error: String(error) }));
    },
  };
}

async function annotatePortsInUse(client: Client, node: string, ports: readonly string[]): Promise<void> {
  const annotations = { [PORTS_IN_USE_ANNOTATION]: portsInUseValue(ports) };
  await client.of(Node).patch(node, { type: 'merge', changes: { metadata: { annotations } } });
}

/** Removes what a node left, also one that was killed. */
export async function removeServiceRules(
  { name, shortName, networkNamespace }: RulesOwner,
  path: string,
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const table = serviceTable(name, shortName);
  // Forwarding rules are the machine's, also for a node with a network of its own.
  await (await openForwarding(path))?.remove(table);
  const kernel = await openKernel(path, networkNamespace);
  if (!kernel) return;
  await kernel.remove(table);
  await kernel.remove(listenersTable(table));
  const router = networkNamespace === undefined ? await openRouter(path) : undefined;
  if (router) await removeRoutes({ kernel, router, table }, shortName);
}

/** The ranges of Services that nodes of this machine have rules for; none without rights. */
export async function serviceRangesInUse(path: string): Promise<readonly string[]> {
  const kernel = await openKernel(path);
  return (await kernel?.rangesIn(ofIp(SETS.serviceRanges, 4))) ?? [];
}

/** Node ports that nodes of this machine lead to Services, those of programs that have ended among them. */
export async function nodePortsInUse(path: string): Promise<readonly LedPort[]> {
  const names = [SETS.nodePorts, SETS.nodePortEndpoints, SETS.localNodePortEndpoints];
  return (await (await openKernel(path))?.portsIn(names.map((name) => ofIp(name, 4)))) ?? [];
}

/** Reports whether the machine has the rules of a node. */
export async function hasServiceRules({ name, shortName }: RulesOwner, path: string): Promise<boolean> {
  return (await (await openKernel(path))?.has(serviceTable(name, shortName))) ?? false;
}

interface Routed {
  readonly kernel: LocalKernel;
  readonly router: LocalRouter;
  /** That of the services. */
  readonly table: string;
}

async function removeRoutes({ kernel, router, table }: Routed, owner: string): Promise<void> {
  await router.route(owner, { routes: [], tunnel: undefined });
  await kernel.remove(routesTable(table));
}

const routesTable = (table: string) => `${table}-routes`;
const listenersTable = (table: string) => `${table}-listeners`;

const MAX_NODE_CHARACTERS = 80;

/** The node's name is for people; the rest distinguishes clusters of one machine. */
export function serviceTable(node: string, shortName: string): string {
  return `qd-${node.slice(0, MAX_NODE_CHARACTERS)}-${shortName.replace(/^qd/, '')}`;
}

/** Undefined when this process may not change nftables, or there is no `nft`. */
async function openKernel(path: string, networkNamespace?: string): Promise<LocalKernel | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [nft, perl, nsenter] = await Promise.all(['nft', 'perl', 'nsenter'].map((name) => findProgram(name, path)));
  if (nft === undefined || (networkNamespace !== undefined && nsenter === undefined)) return undefined;
  const enter = networkNamespace === undefined || nsenter === undefined ? [] : [nsenter, `--net=${networkNamespace}`];
  const kernel = new LocalKernel({ nft, perl, enter });
  return (await kernel.isUsable()) ? kernel : undefined;
}

/** The firewall of the machine. Undefined without `nft`. */
async function openForwarding(path: string): Promise<LocalForwarding | undefined> {
  const [nft, iptables, ip6tables] = await Promise.all(
    ['nft', 'iptables', 'ip6tables'].map((name) => findProgram(name, path)),
  );
  return nft === undefined ? undefined : new LocalForwarding({ nft, iptables, ip6tables, enter: [] });
}

const hostRange = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

/** Undefined where there is no `ip`. */
async function openRouter(path: string): Promise<LocalRouter | undefined> {
  const [ip, bridge] = await Promise.all(['ip', 'bridge'].map((name) => findProgram(name, path)));
  return ip === undefined ? undefined : new LocalRouter({ ip, bridge });
}
