/** `qd agent`: a node in a process of its own. */
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { type Client, createClient } from '../../client/client.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../client/transport/https-transport.ts';
import { hasPinnedKey, pinnedAuthority } from '../../client/transport/pinned-authority.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { DNS_SERVICE } from '../../network/dns/feed/dns-service.ts';
import { CliError } from '../output/cli-error.ts';
import { createLogger } from '../output/logger.ts';
import { untilStopSignal } from '../process/signals.ts';
import { startServices } from '../up/components/services.ts';
import { advertisedAddress } from '../up/listeners/addresses.ts';
import { apiVersion } from '../version.ts';
import { keepCertificate, type NodeCertificate, requestCertificate, storedCertificate } from './certificate.ts';
import { chooseRuntime } from './choose-runtime.ts';
import type { AgentFlags } from './flags.ts';
import { checkNodeFlags, nodeConfig } from './node-config.ts';
import type { RealRuntime } from './open-runtime.ts';
import { runNode } from './run-node.ts';

/** Watches end after this time, so that a dead connection is noticed. */
const WATCH_SECONDS = 300;
const PIN_TIMEOUT_MS = 10_000;
const DNS_TIMEOUT_MS = 5_000;

export async function agent(flags: AgentFlags): Promise<void> {
  const { server, nodeName: node, dataDir: directory } = flags;
  if (server === undefined) throw new CliError('--server is needed: qd token create prints the command');
  const clock = systemClock;
  const random = systemRandom;
  const log = createLogger('info');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await checkNodeFlags(flags);
  const runtime = await runtimeOf(flags);
  const ca = await authorityOf(flags, server);
  const cluster: Connection = { server, ca };
  const purpose = 'client';
  const stored = await storedCertificate({ purpose, directory, authority: ca }, clock.now());
  const certificate = stored ?? (await requestFirst(flags, cluster));
  const stop = new AbortController();
  const signalled = untilStopSignal(clock).then((signal) => {
    log.info('stopping', { signal });
    stop.abort(new Error('the agent stops'));
  });
  const transport = httpsTransport({ ...cluster, ...certificate, clock, userAgent: 'qd-agent' });
  const client = createClient(transport);
  const config = nodeConfig(flags);
  const running = await runNode({
    ...{ client, clock, random, log, name: node, dataDirectory: directory },
    runtime,
    endpoint: flags.containerRuntimeEndpoint,
    addresses: [flags.nodeAddress ?? advertisedAddress('0.0.0.0', '127.0.0.0/8')],
    podCIDR: undefined,
    ...{ clusterDomain: flags.clusterDomain, apiServer: addressOf(server), config },
    clusterDns: flags.clusterDns ?? (await dnsServiceAddress(client, log)),
    ...{ version: apiVersion.gitVersion, watchSeconds: WATCH_SECONDS },
    authority: () => ca,
    // Pods go on without the agent, and so do their services.
    startServices: (each) =>
      startServices({
        ...{ client, clock, random, log, node: each, watchSeconds: WATCH_SECONDS },
        ...{ podRoutes: config.podRoutes, removesRules: false },
      }),
  }).catch((error: unknown) => {
    transport.close();
    throw error;
  });
  process.stdout.write(`Node ${node} joined ${server}.\n`);
  await keepCertificate({
    ...{ client, purpose, node, directory, clock, random, log, signal: stop.signal, first: certificate },
    use: (issued) => transport.renew(issued),
  });
  await running.stop();
  transport.close();
  await signalled;
}

async function requestFirst(flags: AgentFlags, cluster: Connection): Promise<NodeCertificate> {
  const { token, nodeName: node, dataDir: directory } = flags;
  if (token === undefined) throw new CliError('--token is needed to join: qd token create makes one');
  const transport = httpsTransport({ ...cluster, token, clock: systemClock, userAgent: 'qd-agent' });
  const client = createClient(transport);
  try {
    const purpose = 'client';
    return await requestCertificate({ client, purpose, node, directory, clock: systemClock, random: systemRandom });
  } finally {
    transport.close();
  }
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
  if (caFile !== undefined) return readFile(caFile, 'utf8');
  if (caHash === undefined) throw new CliError('--ca-hash or --ca-file is needed: qd token create prints the command');
  const kept = join(dataDir, 'pki', 'ca.crt');
  try {
    const found = await pinnedAuthority(server, caHash, AbortSignal.timeout(PIN_TIMEOUT_MS));
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
    await writeFile(kept, found);
    return found;
  } catch (error) {
    const known = await readFile(kept, 'utf8').catch(() => undefined);
    if (known !== undefined && hasPinnedKey(new X509Certificate(known), caHash)) return known;
    throw error;
  }
}

/** The address of the cluster's DNS service; none when there is no such service, or the server cannot be reached now. */
async function dnsServiceAddress(client: Client, log: Logger): Promise<readonly string[]> {
  const { name, namespace } = DNS_SERVICE;
  try {
    const { spec } = await client
      .of(Service)
      .in(namespace)
      .get(name, { signal: AbortSignal.timeout(DNS_TIMEOUT_MS) });
    return spec.clusterIPs ?? [];
  } catch (error) {
    log.warn('pods get no cluster DNS: its service cannot be read', { error: String(error) });
    return [];
  }
}

async function runtimeOf(flags: AgentFlags): Promise<RealRuntime> {
  const { runtime, containerRuntimeEndpoint: endpoint, dataDir: dataDirectory } = flags;
  if (runtime !== 'auto') return runtime as RealRuntime;
  const chosen = await chooseRuntime({ endpoint, dataDirectory, path: process.env.PATH ?? '', clock: systemClock });
  process.stdout.write(`Pods are run by ${chosen.runtime} (${chosen.why}).\n`);
  return chosen.runtime;
}
