/** `qd agent`: a node in a process of its own. */

import { X509Certificate } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { advertisedAddress } from '../../assembly/addresses.ts';
import type { StartingNode } from '../../assembly/cluster-nodes/nodes-ready.ts';
import { endLostNodes } from '../../assembly/node/ending/end-lost.ts';
import {
  keepCertificate,
  type NodeCertificate,
  requestCertificate,
  storedCertificate,
} from '../../assembly/node/endpoint/certificate.ts';
import { localApiAddress } from '../../assembly/node/network/local-api.ts';
import { OwnServiceDaemon } from '../../assembly/node/network/service-daemon.ts';
import { startServices } from '../../assembly/node/network/services.ts';
import type { RealRuntime } from '../../assembly/node/open-runtime.ts';
import { Rejoin } from '../../assembly/node/rejoin.ts';
import { startNode } from '../../assembly/node/start-node.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Logger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { failoverTransport } from '../../client/transport/http/failover-transport.ts';
import { httpsTransport } from '../../client/transport/http/https-transport.ts';
import { hasPinnedKey, pinnedAuthority } from '../../client/transport/http/pinned-authority.ts';
import { rememberElsewhere } from '../clusters/elsewhere/elsewhere.ts';
import { token as parseToken } from '../credentials/token/flags.ts';
import { clustersHome } from '../flags/cluster.ts';
import { certificates, fromFile } from '../flags/file-content.ts';
import { CliError } from '../output/cli-error.ts';
import { createLogger } from '../output/logger.ts';
import { untilStopSignal } from '../process/signals.ts';
import { apiVersion, version } from '../process/version.ts';
import { checkWritableDirectory } from '../process/writable.ts';
import { takeLock } from '../up/directory/lock.ts';
import { packageReceiver } from '../up/upgrade/receiving/package-receiver.ts';
import { readAgentFile, writeAgentFile } from './agent-file.ts';
import { reportWhenReady } from './background/report-ready.ts';
import { chooseRuntime } from './choose-runtime.ts';
import type { AgentFlags, GivenAgentFlags } from './flags.ts';
import { followAuthority, isOfNewest, keepAuthority, trustedAuthority } from './followed/authority.ts';
import { followClusterDns, followServers, knownServers } from './followed/facts.ts';
import { hiddenPaths } from './hidden-paths.ts';
import { checkNodeFlags, nodeConfig } from './node-config.ts';
import { type RememberedFlags, rememberedOf, settleAgent } from './settle.ts';

/** Watches end after this time, so that a dead connection is noticed. */
const WATCH_SECONDS = 300;
const PIN_TIMEOUT_MS = 10_000;

export async function agent(given: GivenAgentFlags): Promise<void> {
  const { dataDir: directory } = given;
  const remembered = (await readAgentFile(directory))?.flags ?? {};
  const flags = settleAgent(given, remembered);
  const { server } = flags;
  if (server === undefined) throw new CliError('--server is needed: qd token create prints the command');
  const log = createLogger('info');
  // Before anything is made.
  if (flags.caFile !== undefined) await authorityOf(flags, server);
  await checkWritableDirectory('--data-dir', directory);
  await makeDirectories(directory, 0o700);
  await checkNodeFlags(flags);
  const lock = await takeLock(directory);
  try {
    await runAgent(flags, { server, remembered, log });
  } finally {
    await lock.release();
  }
}

interface Start {
  readonly server: string;
  /** Flags of an earlier start. */
  readonly remembered: RememberedFlags;
  readonly log: Logger;
}

async function runAgent(flags: AgentFlags, { server, remembered, log }: Start): Promise<void> {
  const { nodeName: node, dataDir: directory } = flags;
  await writeAgentFile(directory, { node, server, version, flags: remembered, readyPid: 0 });
  await rememberElsewhere(clustersHome(), directory).catch((error: unknown) =>
    log.debug('qd list will not show this agent', { error }),
  );
  const runtime = await runtimeOf(flags);
  // Pods of earlier agents of this machine may have the addresses that the node will give to its own.
  const tools = { clock: systemClock, random: systemRandom, log, path: process.env.PATH ?? '' };
  await endLostNodes({ ...tools, dataDirectory: directory });
  let membership = await joinCluster(flags, server);
  const file = { node, server, version, flags: rememberedOf(flags) };
  await writeAgentFile(directory, { ...file, readyPid: 0 });
  const stop = new AbortController();
  const signalled = untilStopSignal(systemClock).then((signal) => {
    log.info('stopping', { signal });
    stop.abort(new Error('the agent stops'));
  });
  const options = { flags, server, runtime, log, signal: stop.signal };
  const onReady = () => writeAgentFile(directory, { ...file, readyPid: process.pid });
  const report = reportWhenReady({ clock: systemClock, log, onReady });
  let next = await runMember(membership, options, (started, signal) => {
    process.stdout.write(`Node ${node} joined ${server}.\n`);
    report(started, signal);
  });
  while (next) {
    membership = next;
    next = await runMember(membership, options, (started, signal) => {
      log.info('the node has joined the cluster again', { node, server });
      report(started, signal);
    });
  }
  await signalled;
}

/** Certificates that make a machine a node of a cluster. */
interface Membership {
  /** What the flags of the agent lead to. */
  readonly told: string;
  /** Certificates of the cluster's authorities, as PEM. */
  readonly ca: string;
  readonly certificate: NodeCertificate;
}

async function joinCluster(flags: AgentFlags, server: string): Promise<Membership> {
  const told = await authorityOf(flags, server);
  const ca = await trustedAuthority(flags.dataDir, told);
  const options = { purpose: 'client', directory: flags.dataDir, authority: ca } as const;
  const stored = await storedCertificate(options, systemClock.now());
  return { told, ca, certificate: stored ?? (await requestFirst(flags, { server, ca })) };
}

/** For a node whose certificate the server rejects. */
async function joinAgain(flags: AgentFlags, server: string): Promise<Membership> {
  const ca = await authorityOf(flags, server);
  const certificate = await requestFirst(flags, { server, ca });
  // That of its endpoint was rejected as well.
  await rm(join(flags.dataDir, 'nodes', flags.nodeName, 'pki', 'serving.crt'), { force: true });
  return { told: ca, ca, certificate };
}

/** For a node that is to trust other authorities: its certificates are those of the newest of them. */
async function trusting(
  ca: string,
  { told, certificate }: Membership,
  { client, flags }: { readonly client: Client; readonly flags: AgentFlags },
): Promise<Membership> {
  const { nodeName: node, dataDir: directory } = flags;
  const tools = { clock: systemClock, random: systemRandom };
  const isCurrent = isOfNewest(certificate.cert, ca);
  const own = isCurrent
    ? certificate
    : await requestCertificate({ ...tools, client, purpose: 'client', node, directory });
  if (!isCurrent) await rm(join(directory, 'nodes', node, 'pki', 'serving.crt'), { force: true });
  await keepAuthority(directory, { told, trusted: ca });
  return { told, ca, certificate: own };
}

interface MemberOptions {
  readonly flags: AgentFlags;
  readonly server: string;
  readonly runtime: RealRuntime;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Runs the node until the agent is stopped; or until it has joined again, and is to be run with what is returned. */
async function runMember(
  membership: Membership,
  { flags, server, runtime, log, signal }: MemberOptions,
  onStart: (node: StartingNode, signal: AbortSignal) => void,
): Promise<Membership | undefined> {
  const { ca, certificate } = membership;
  const { nodeName: node, dataDir: directory } = flags;
  const clock = systemClock;
  const random = systemRandom;
  const end = new AbortController();
  const onStop = () => end.abort(signal.reason);
  signal.addEventListener('abort', onStop, { once: true });
  let next: Membership | undefined;
  let taken: Error | undefined;
  const rejoin = new Rejoin({
    clock,
    log,
    join: async () => {
      next = await joinAgain(flags, server);
    },
    joined: () => end.abort(new Error('the node joins again')),
  });
  const servers = failoverTransport({
    given: server,
    known: await knownServers(directory),
    identity: certificate,
    connect: (url, identity) => httpsTransport({ server: url, ca, ...identity, clock, userAgent: 'qd-agent' }),
    clock,
    random,
    log,
  });
  const transport = rejoin.noticing(servers);
  const client = createClient(transport);
  // Whoever may create pods in the cluster is no user of this machine yet.
  const config = nodeConfig(flags, false);
  const path = process.env.PATH ?? '';
  const { clusterDomain } = flags;
  const informers = new InformerFactory({
    client,
    clock,
    random,
    log,
    signal: end.signal,
    watchSeconds: WATCH_SECONDS,
  });
  const following = { informers, clock, log, directory, signal: end.signal };
  followAuthority({
    ...following,
    trusted: ca,
    adopt: async (authority) => {
      next = await trusting(authority, membership, { client, flags });
      end.abort(new Error('the authority of the cluster has changed'));
    },
  });
  const [endpoints, dns] = await Promise.all([
    followServers(following, (found) => servers.use(found)),
    flags.clusterDns?.length ? undefined : followClusterDns(following),
  ]);
  const localApi = await localApiAddress(directory, random);
  const daemon = new OwnServiceDaemon({ dataDirectory: directory, clusterDomain, clock, random, log });
  const running = await startNode({
    client,
    clock,
    random,
    log,
    name: node,
    canBeElsewhere: true,
    onTaken: (error) => {
      taken = error;
      end.abort(error);
    },
    dataDirectory: directory,
    runtime,
    endpoint: flags.containerRuntimeEndpoint,
    addresses: [flags.nodeAddress ?? advertisedAddress('0.0.0.0', '127.0.0.0/8')],
    podCIDR: undefined,
    clusterDomain,
    apiServer: addressOf(server),
    apiServerForPods: () => localApi ?? addressOf(servers.server),
    config,
    path,
    hidden: () => hiddenPaths(directory, process.env.KUBECONFIG),
    clusterDns: () => dns?.values() ?? flags.clusterDns ?? [],
    version: apiVersion.gitVersion,
    watchSeconds: WATCH_SECONDS,
    authority: () => ca,
    upgrades: packageReceiver({ directory, isOn: flags.remoteUpgrades, log }),
    // Pods go on without the agent, and so do their services.
    startServices: (each) =>
      startServices({
        client,
        clock,
        random,
        log,
        path,
        node: each,
        watchSeconds: WATCH_SECONDS,
        podRoutes: config.podRoutes,
        dataDirectory: directory,
        keepsRules: async () => true,
        openDaemon: () => daemon.open(),
        localApi,
        onServed: () => daemon.commit().catch((error: unknown) => log.debug('the network daemon was left', { error })),
      }),
  }).catch((error: unknown) => {
    end.abort(error);
    servers.close();
    throw error;
  });
  onStart({ name: node, client, ready: running.ready }, end.signal);
  await keepCertificate({
    client,
    purpose: 'client',
    node,
    directory,
    clock,
    random,
    log,
    signal: end.signal,
    first: certificate,
    use: (issued) => servers.renew(issued),
  });
  signal.removeEventListener('abort', onStop);
  await running.stop();
  await Promise.all([informers.stopped(), endpoints.written(), dns?.written()]);
  await daemon.leave();
  servers.close();
  if (taken) throw new CliError(`${taken.message}. Its pods go on here: qd down --data-dir ${directory} ends them`);
  return signal.aborted ? undefined : next;
}

async function requestFirst(flags: AgentFlags, cluster: Connection): Promise<NodeCertificate> {
  const { nodeName: node, dataDir: directory } = flags;
  const token = await tokenOf(flags);
  const transport = httpsTransport({ ...cluster, token, clock: systemClock, userAgent: 'qd-agent' });
  const client = createClient(transport);
  try {
    const purpose = 'client';
    return await requestCertificate({ client, purpose, node, directory, clock: systemClock, random: systemRandom });
  } finally {
    transport.close();
  }
}

async function tokenOf({ token, tokenFile }: AgentFlags): Promise<string> {
  if (token !== undefined) return token;
  if (tokenFile !== undefined) return fromFile('--token-file', tokenFile, (text) => parseToken(text.trim()));
  throw new CliError('--token or --token-file is needed to join: qd token create makes one');
}

function addressOf(server: string): { host: string; port: number } {
  const { hostname: host, port } = new URL(server);
  return { host, port: Number(port || 443) };
}

/**
 * Without one of the flags, the machine could not tell the cluster from another one that wants its token. The certificate that a
 * hash stands for is kept: an agent starts also while the server does not answer.
 */
async function authorityOf({ caFile, caHash, dataDir }: AgentFlags, server: string): Promise<string> {
  if (caFile !== undefined) return fromFile('--ca-file', caFile, certificates);
  if (caHash === undefined) throw new CliError('--ca-hash or --ca-file is needed: qd token create prints the command');
  const kept = join(dataDir, 'pki', 'ca.crt');
  try {
    const found = await pinnedAuthority(server, caHash, AbortSignal.timeout(PIN_TIMEOUT_MS));
    await makeDirectories(dirname(kept), 0o700);
    await writeFile(kept, found);
    return found;
  } catch (error) {
    const known = await readFile(kept, 'utf8').catch(() => undefined);
    if (known !== undefined && hasPinnedKey(new X509Certificate(known), caHash)) return known;
    throw error;
  }
}

async function runtimeOf(flags: AgentFlags): Promise<RealRuntime> {
  const { runtime, containerRuntimeEndpoint: endpoint, dataDir: dataDirectory } = flags;
  if (runtime !== 'auto') return runtime as RealRuntime;
  const chosen = await chooseRuntime({ endpoint, dataDirectory, path: process.env.PATH ?? '', clock: systemClock });
  process.stdout.write(`Pods are run by ${chosen.runtime} (${chosen.why}).\n`);
  return chosen.runtime;
}
