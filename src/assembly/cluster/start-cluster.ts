/** Starts a cluster, part by part. What a part opens is added to the clean-up, which closes it in reverse order. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ServedAction } from '../../api/served-action.ts';
import { whenAborted } from '../../base/event-loop/when-aborted.ts';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { CLOSED_GUARD } from '../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Server } from '../../server/index.ts';
import { answering, logCheck } from '../../server/serving/http/documents/health.ts';
import type { HttpServer } from '../../server/serving/http/server.ts';
import { Metrics } from '../../server/serving/metrics/metrics.ts';
import { ObjectMetrics } from '../../server/serving/metrics/objects.ts';
import { hostPort, type PeerDescription } from '../../server/upkeep/peers/lease.ts';
import type { Store } from '../../store/index.ts';
import { advertisedAddress, apiPorts, isLoopback, urlOf } from '../addresses.ts';
import { startDns } from '../cluster-network/dns.ts';
import { startIngress } from '../cluster-network/ingress.ts';
import { hasRunningPods, type OpeningNetwork, openNetwork } from '../cluster-network/network.ts';
import { dividedRange, hasRealPods } from '../cluster-nodes/node-plan.ts';
import { type StartedNodes, startNodes } from '../cluster-nodes/nodes.ts';
import { remoteConnection } from '../cluster-nodes/remote-nodes.ts';
import { openAudit } from '../control-plane/audit.ts';
import { authentication } from '../control-plane/authentication.ts';
import {
  type ComponentOptions,
  type ControllerKeys,
  controllerKeys,
  factsOf,
  SCHEDULER,
} from '../control-plane/components.ts';
import { CONTROLLERS_LEASE } from '../control-plane/controllers.ts';
import { serveHttps, serveInsecure, tokenDocuments } from '../control-plane/https.ts';
import { SCHEDULER_LEASE } from '../control-plane/scheduler.ts';
import { type TokenSettings, tokenSettings } from '../control-plane/service-account-tokens.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start-control-plane.ts';
import { upgradeTree } from '../control-plane/upgrade-tree.ts';
import { clientUrl } from '../etcd/configuration.ts';
import type { MemberPlan } from '../etcd/member.ts';
import { memberPaths } from '../etcd/paths.ts';
import { openCertificates } from '../keys/certificates.ts';
import type { Pki } from '../keys/pki.ts';
import { renewCertificates } from '../keys/renew-certificates.ts';
import { machineGuard } from '../machine-guard.ts';
import { ArchiveMetrics } from '../store/archive.ts';
import { type Backups, openBackups } from '../store/backups/open-backups.ts';
import { type OpenStore, openStore } from '../store/open.ts';
import { checkRelease } from '../store/releases/check-release.ts';
import { readClusterRow } from '../store/releases/cluster-row.ts';
import { joinServers } from '../store/releases/join-servers.ts';
import { keepReleaseRecorded } from '../store/releases/record-release.ts';
import { stopBelowMinimum } from '../store/releases/stop-below.ts';
import { followClock } from '../test-facilities/follow-clock.ts';
import { largeYamlDecoder } from '../threads/yaml-thread.ts';
import type { ClusterOptions } from './options.ts';

export interface StartedCluster extends StartedNodes {
  /** The keys and certificates that are used now. */
  keys(): Pki;
  /** URLs of all servers on the store; empty where this one has it to itself. */
  servers(): readonly string[];
  /** Says that the server is ready. */
  open(): void;
  /** Starts what works on objects: controllers, scheduler, pods. `changed` is told of new keys and servers. */
  run(changed: ClusterChanges): Promise<void>;
  /** The start has succeeded: a durable store may say from now on that this release has run on it. */
  confirm(): void;
}

interface ClusterChanges {
  /** Keys or certificates have changed. */
  keys(pki: Pki): Promise<void>;
  /** A server has come, gone, or has another address. */
  servers(): Promise<void>;
}

/** Resolves when the API can be used and the nodes are registered. */
export async function startCluster(options: ClusterOptions): Promise<StartedCluster> {
  const { startPart, address, machineClock, random, insecurePort } = options;
  const network = servesPods(options) ? openNetwork(networkOptions(options)) : undefined;
  const { member } = options;
  if (member) await startPart('etcd', () => startOwnEtcd(options, member));
  else await endUnusedEtcd(options);
  const opened = await startPart('store', async () => {
    const accept = async (each: Store) => checkRelease(await readClusterRow(each), options.release);
    const opening = await openStore({ ...options, ...options.store, accept });
    return { ...opening, revision: await opening.store.revision() };
  });
  const { store } = opened;
  if (member) {
    const { keepDefragmented } = await import('../etcd/defragment.ts');
    keepDefragmented({ ...options, store, clock: options.machineClock, endpoints: [clientUrl(member.address)] });
  }
  const isShared = options.store.driver.shared;
  if (isShared) await options.agree(store);
  else {
    const { leaveSharing } = await import('../store/moving/leave-sharing.ts');
    await leaveSharing({ ...options, store, directory: join(options.directory, 'pki'), clock: options.machineClock });
  }
  const keyOptions = { ...options, store, isShared, api: address };
  const pki = await startPart('certificates', () => openCertificates(keyOptions));
  const { restore } = options;
  if (restore) await startPart('objects', () => restore(store));
  const metrics = new Metrics(machineClock);
  metrics.add(options.eventLoops);
  if (opened.archive) metrics.add(new ArchiveMetrics(opened.archive, store));
  const tokens = tokenSettings(options.tokens, pki, random);
  const confirmed = new AbortController();
  const state: ClusterState = { opened, tokens, metrics, pki, isReady: false, isShared, confirmed: confirmed.signal };
  const plane = await startPart('controlPlane', () => startPlane(options, state));
  const { server } = plane;
  state.backups = backupsOf(options, state, server);
  metrics.add(new ObjectMetrics(() => server.registry.kinds, server.count));
  const http = await serve(options, state, plane);
  options.cleanup.add(await server.join());
  await joinServers({ store, server, release: options.release, clock: machineClock });
  if (isShared) stopBelow(options, store);
  if (insecurePort > 0) {
    await startPart('insecure', async () => {
      const url = await serveInsecure(http, insecurePort);
      const message = 'the API is served without authentication: every user of this machine is an administrator';
      options.log.warn(message, { address: url });
      return url;
    });
  }
  await startPart('components', async () => {
    const { chosen, total } = plane.components!.controllers(server);
    return { chosen: chosen.length, total, schedules: plane.components!.schedules };
  });
  const { promise: whenReady, resolve: markReady } = withResolvers<void>();
  const started = await startNodesAndNetwork(options, state, { plane, network, whenReady });
  return {
    ...started,
    keys: () => state.pki,
    servers: () => (server.others?.addresses() ?? []).map((each) => `https://${hostPort(each)}`).sort(),
    confirm: () => confirmed.abort(),
    open() {
      opened.goOn();
      state.isReady = true;
    },
    async run(changed) {
      const { manual, trust } = options;
      setImmediate(() => http.prepare());
      plane.startComponents();
      manual?.follow(store, await store.revision());
      if (manual) await followClock({ ...options, manual }, server);
      markReady();
      network?.started();
      renewCertificates({
        ...keyOptions,
        pki,
        async apply(next) {
          state.pki = next;
          http.renew(await trust.tlsOf(next));
          tokens.use(next);
          await server.renewFrontProxy(await trust.frontProxyOf(next));
          await plane.components?.use(keysFor(options, next));
          await changed.keys(next);
        },
      });
      const stopFollowing = server.others?.onChange(() => void changed.servers());
      options.cleanup.add(async () => stopFollowing?.());
      // Runs before all others.
      options.cleanup.add(async () => abandonWhenSilent(opened, machineClock));
    },
  };
}

/** How long a stop waits for a store that does not answer: by then, others know without a goodbye. */
const MAX_GOODBYE_MS = 3_000;

/** Gives the store up when it does not answer from now on, so that no part of a stop waits for it. */
function abandonWhenSilent({ store, abandon }: OpenStore, clock: Clock): void {
  const timer = clock.timer(MAX_GOODBYE_MS, abandon);
  Promise.resolve(store.revision()).then(
    () => timer.cancel(),
    () => undefined, // It does not answer.
  );
}

async function startOwnEtcd(options: ClusterOptions, plan: MemberPlan): Promise<MemberPlan> {
  // Objects may have been moved to it before this start.
  if (options.runningMember) {
    const { runningMember } = options;
    options.cleanup.add(() => runningMember.run());
    return plan;
  }
  const { startMember } = await import('../etcd/member.ts');
  await startMember({ ...options, ...plan, clock: options.machineClock });
  return plan;
}

/** An interrupted migration may have left an etcd that nobody uses. */
async function endUnusedEtcd({ directory, machineClock }: ClusterOptions): Promise<void> {
  const paths = memberPaths(directory);
  if (!existsSync(paths.configuration)) return;
  const { endLeftMember } = await import('../etcd/left-process.ts');
  await endLeftMember(paths, machineClock);
}

/** How further servers join; they can where the cluster runs its own etcd. */
async function joinActions(options: ClusterOptions, store: Store, server: Server): Promise<readonly ServedAction[]> {
  const { member, directory, machineClock: clock, random } = options;
  const { keyFile } = options.store;
  if (!member || keyFile === undefined) return [];
  const { currentBundle, joinAction } = await import('../etcd/join/answer.ts');
  const releases = async () => {
    const { level, release } = await readClusterRow(store);
    return { level, release };
  };
  const bundle = { ...member, directory, keyFile, clock, settings: () => options.agreed(store), releases };
  return [joinAction({ server, random, bundle: () => currentBundle(bundle) })];
}

/** Reports whether pods may ask this server for names: those of its own nodes, or of agents on other machines. */
function servesPods({ nodes, address: { bindAddress } }: ClusterOptions): boolean {
  return hasRealPods(nodes) || (nodes.names.length === 0 && !isLoopback(bindAddress));
}

interface ClusterState {
  readonly opened: OpenStore;
  readonly tokens: TokenSettings;
  readonly metrics: Metrics;
  readonly isShared: boolean;
  /** Aborted when the start has succeeded. */
  readonly confirmed: AbortSignal;
  /** The current keys and certificates. */
  pki: Pki;
  backups?: Backups | undefined;
  isReady: boolean;
}

async function startPlane(options: ClusterOptions, state: ClusterState): Promise<ControlPlane> {
  const { address, store: history, machineClock, clock, random, log, trust, users, components, nodes } = options;
  const { opened, tokens, metrics, isShared, pki } = state;
  const dialGuard = options.isIsolated ? CLOSED_GUARD : machineGuard(options);
  const { historyMilliseconds, historyBytes } = history;
  return startControlPlane({
    ...options,
    api: {
      ...options.api,
      store: metrics.store.measured(opened.store, machineClock),
      archive: opened.archive,
      serviceClusterIpRange: address.serviceClusterIpRange,
      historyMilliseconds,
      historyBytes,
      authentication: await authentication({ ...users, clock, log, accounts: tokens }),
      tokenIssuer: tokens.bound,
      frontProxy: await trust.frontProxyOf(pki),
      defaultRoles: true,
      aggregation: true,
      dialGuard,
      garbageCollection: components.runs('garbage-collector'),
      peer: isShared ? peerOf(options) : undefined,
      advertise: {
        address: advertisedAddress(address.bindAddress, address.serviceClusterIpRange),
        port: address.port,
      },
    },
    components: {
      keys: keysFor(options, pki),
      facts: {
        ...factsOf(address),
        podRange: dividedRange(nodes),
        volumesDirectory: components.volumesDirectory,
      },
      runs: components.runs,
      isShared,
      metrics,
      beside: workBeside(options, state),
    },
    remoteNodes: (addressOf) => remoteConnection(addressOf, () => state.pki, { clock, random, guard: dialGuard }),
  });
}

function peerOf({ release, components }: ClusterOptions): PeerDescription {
  const candidateFor = [CONTROLLERS_LEASE, ...(components.runs(SCHEDULER) ? [SCHEDULER_LEASE] : [])];
  return { hostname: hostname(), release, candidateFor };
}

function stopBelow({ release, rejected, machineClock: clock, log, cleanup }: ClusterOptions, store: Store): void {
  const stopping = new AbortController();
  cleanup.add(async () => stopping.abort());
  stopBelowMinimum({ store, release, clock, log, signal: stopping.signal, stop: rejected });
}

/** Work beside the controllers, where a store outlives the process: it records which releases have run on it, and takes backups. */
function workBeside(options: ClusterOptions, state: ClusterState): ComponentOptions['beside'] {
  if (!options.store.driver.durable) return undefined;
  const { opened, confirmed } = state;
  return async (server, signal) => {
    const backups = state.backups?.run(signal);
    await whenAborted(AbortSignal.any([confirmed, signal]));
    if (!signal.aborted) await keepReleaseRecorded({ ...options, store: opened.store, server }, signal);
    await backups;
  };
}

function backupsOf(options: ClusterOptions, { opened, metrics }: ClusterState, server: Server): Backups | undefined {
  const { backups: plan, store, directory, machineClock: clock, random, log, release, cleanup } = options;
  if (!plan || store.keyFile === undefined) return undefined;
  const { keyFile, driver } = store;
  const saved = { store: opened.movable, storeName: driver.name, archive: opened.storedArchive };
  return openBackups({ plan, directory, keyFile, ...saved, clock, random, log, release, server, metrics, cleanup });
}

async function serve(options: ClusterOptions, state: ClusterState, { server }: ControlPlane): Promise<HttpServer> {
  const { startPart, address, machineClock, cleanup, log, monitor, openPorts, http, trust } = options;
  const { opened, tokens, metrics, pki } = state;
  const audit = await openAudit({ ...options, ...options.audit });
  const ports = apiPorts(address);
  const served = await startPart('https', async () =>
    serveHttps({
      ...http,
      server,
      cleanup,
      log,
      metrics,
      audit,
      monitor,
      clock: machineClock,
      listeners: ports.map(({ address: host, port }) => ({ host, port })),
      tls: await trust.tlsOf(pki),
      checks: [logCheck(log), answering('etcd', () => opened.store.revision(), machineClock), ...server.checks],
      actions: [...(await joinActions(options, opened.store, server)), ...options.storeActions(opened.movable, server)],
      trees: [upgradeTree(options.upgrades), server.history, ...(state.backups ? [state.backups.tree] : [])],
      documents: tokenDocuments(tokens, urlOf(address)),
      decodeLargeYaml: largeYamlDecoder(options),
      onBlocked: (blockage) => options.eventLoops.add(blockage),
      isReady: () => state.isReady,
    }),
  );
  openPorts.push(...ports);
  return served.http;
}

interface StartedPlane {
  readonly plane: ControlPlane;
  readonly network: OpeningNetwork | undefined;
  readonly whenReady: Promise<void>;
}

async function startNodesAndNetwork(
  options: ClusterOptions,
  state: ClusterState,
  { plane, network, whenReady }: StartedPlane,
): Promise<StartedNodes> {
  const { startPart, address: api, ingress } = options;
  const { server } = plane;
  const { isShared } = state;
  const outlives = hasRunningPods(server);
  network?.outlives(outlives);
  const dns = network && (await startPart('dns', () => startDns({ ...options, api, network, server, isShared })));
  const started = await startPart('nodes', () =>
    startNodes(options.nodes, {
      ...options,
      ...options.node,
      api,
      plane,
      network,
      isShared,
      outlives,
      whenReady,
      clusterDns: dns?.resolvers ?? [],
      authority: () => state.pki.authority,
    }),
  );
  // Without a node of its own, the machine has no way to the pods.
  if (network && ingress && hasRealPods(options.nodes)) {
    await startPart('ingress', () => startIngress({ ...options, ...ingress, api, network, server, isShared }));
  }
  return started;
}

function networkOptions(options: ClusterOptions) {
  const { serviceClusterIpRange, clusterDomain } = options.address;
  return { ...options, serviceClusterIpRange, clusterDomain, clusterCidr: options.nodes.clusterCidr };
}

/** Keys that the controllers sign with. */
function keysFor({ components, clock, random }: ClusterOptions, pki: Pki): ControllerKeys {
  return controllerKeys(pki, { clock, random, maxLifetime: components.maxCertificateMs });
}
