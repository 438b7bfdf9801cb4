/** The start of a cluster, step by step. What a step opens is added to the clean-up, which closes it in reverse order. */
import { INSECURE_HOST, serverUrl, urlOf } from '../../assembly/addresses.ts';
import { startDns } from '../../assembly/cluster-network/dns.ts';
import { startIngress } from '../../assembly/cluster-network/ingress.ts';
import { hasRunningPods, openNetwork } from '../../assembly/cluster-network/network.ts';
import { hasRealPods } from '../../assembly/cluster-nodes/node-plan.ts';
import { startNodes } from '../../assembly/cluster-nodes/nodes.ts';
import { type UnreadyNode, untilNodesReady } from '../../assembly/cluster-nodes/nodes-ready.ts';
import { remoteConnection } from '../../assembly/cluster-nodes/remote-nodes.ts';
import { openAudit } from '../../assembly/control-plane/audit.ts';
import { historyDocument, serveHttps, serveInsecure, tokenDocuments } from '../../assembly/control-plane/https.ts';
import { tokenSettings } from '../../assembly/control-plane/service-account-tokens.ts';
import { startControlPlane } from '../../assembly/control-plane/start-control-plane.ts';
import { openCertificates } from '../../assembly/keys/certificates.ts';
import type { Pki } from '../../assembly/keys/pki.ts';
import { renewCertificates } from '../../assembly/keys/renew-certificates.ts';
import { machineGuard } from '../../assembly/machine-guard.ts';
import { openStore } from '../../assembly/store/open.ts';
import { followClock } from '../../assembly/test-facilities/follow-clock.ts';
import { startFront } from '../../assembly/threads/front-thread.ts';
import { limitHeapGrowth } from '../../assembly/threads/heap-growth.ts';
import { collectWithoutHelpers, lowerHelperPriority } from '../../assembly/threads/helper-threads.ts';
import { largeYamlDecoder } from '../../assembly/threads/yaml-thread.ts';
import { answering, logCheck } from '../../server/serving/http/documents/health.ts';
import { Metrics } from '../../server/serving/metrics/metrics.ts';
import { ObjectMetrics } from '../../server/serving/metrics/objects.ts';
import { storeDriver } from '../../store/drivers.ts';
import { rememberElsewhere } from '../clusters/elsewhere.ts';
import { writeLastStart } from '../clusters/last-start.ts';
import { clustersHome } from '../flags/cluster.ts';
import type { Say } from '../output/steps.ts';
import { explainListening } from '../process/listen.ts';
import { apiVersion, version } from '../version.ts';
import { announcement } from './announcement.ts';
import { limits } from './api/load.ts';
import { apiAddress, apiOptions, tokenOptions } from './api/options.ts';
import { ingressOptions, networkOptions } from './components/network.ts';
import { componentOptions, describeComponents, describeNodes, keysFor, nodesOptions } from './components/options.ts';
import type { Environment, StartContext } from './context.ts';
import { type Published, publishAccess, publishedFile } from './identity/kubeconfig.ts';
import { frontProxyOf, tlsOf } from './identity/proxies.ts';
import { apiPorts } from './listeners/open-ports.ts';
import { reachProblem } from './listeners/self-check.ts';
import { auditOptions } from './observability/audit.ts';
import { prepare } from './prepare.ts';
import type { GivenFlags } from './settings/settle.ts';
import { storeOptions } from './store/options.ts';
import { restoreInto } from './testing/restore.ts';

/** How long the nodes may take. */
const NODES_READY_TIMEOUT_MS = 60_000;

/** Resolves when the cluster is ready, with the nodes that are not. */
export async function start(given: GivenFlags, environment: Environment): Promise<readonly UnreadyNode[]> {
  const { steps, cleanup, machineClock, random, log, monitor, manual, stopSignal } = environment;
  lowerHelperPriority(log);
  const openListeners = startFront(cleanup);
  const { directory, context } = await prepare(given, environment);
  const { settings, inputs } = context;
  const api = apiAddress(context);
  steps.line(`Quarterdeck ${version}, cluster "${settings.name}"`);
  await steps.run('directory', async (say) => {
    await directory.create();
    say(directory.isNew ? `${directory.path} (new)` : directory.path);
  });
  const network = hasRealPods(inputs.nodes) ? openNetwork(networkOptions(context)) : undefined;
  const { store, encryptStale } = await steps.run('store', async (say) => {
    const opened = await openStore(storeOptions(context));
    say(`${settings.store}, revision ${await opened.store.revision()}`);
    return opened;
  });
  const isShared = storeDriver(settings.store).shared;
  const keyOptions = { ...context, api, store, isShared };
  const pki = await steps.run('certificates', async (say) => {
    const opened = await openCertificates(keyOptions);
    say(opened.created.length > 0 ? `created ${opened.created.join(', ')}` : 'unchanged');
    return opened;
  });
  const { restore } = inputs;
  if (restore) await steps.run('objects', (say) => restoreInto(store, restore, say));
  const metrics = new Metrics(machineClock);
  metrics.add(environment.eventLoops);
  const tokens = tokenSettings(tokenOptions(settings), pki, random);
  let current = pki;
  const plane = await steps.run('API', async (say) => {
    const measured = metrics.store.measured(store, machineClock);
    const frontProxy = await frontProxyOf(pki, settings);
    const guard = machineGuard(settings);
    const started = await startControlPlane({
      ...{ ...context, faults: settings.faults, components: componentOptions(context, { pki, metrics }) },
      api: await apiOptions(context, { store: measured, tokens, frontProxy }),
      remoteNodes: (addressOf) => remoteConnection(addressOf, () => current, { clock: context.clock, random, guard }),
    });
    say(`${started.builtInKinds} kinds`);
    return started;
  });
  const { server } = plane;
  metrics.add(new ObjectMetrics(() => server.registry.kinds, server.count));
  const audit = await openAudit({ ...context, ...auditOptions(settings, inputs.audit, context.directory) });
  let isReady = false;
  let markReady!: () => void;
  const whenReady = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const http = await steps.run('HTTPS', async (say) => {
    const ports = apiPorts(api);
    const own = [logCheck(log), answering('etcd', () => store.revision(), machineClock)];
    const served = await explainListening({ host: settings.bindAddress, port: settings.port }, async () =>
      serveHttps({
        ...{ server, cleanup, log, metrics, audit, monitor, version: apiVersion, clock: machineClock },
        listeners: ports.map(({ address: host, port }) => ({ host, port })),
        tls: await tlsOf(pki, settings),
        limits: limits(settings),
        checks: [...own, ...server.checks],
        documents: [...tokenDocuments(tokens, urlOf(api)), historyDocument(server)],
        decodeLargeYaml: largeYamlDecoder(context),
        ...{ open: openListeners, onBlocked: (blockage) => environment.eventLoops.add(blockage) },
        isReady: () => isReady,
      }),
    );
    context.openPorts.push(...ports);
    say(served.urls.join(', '));
    return served.http;
  });
  cleanup.add(await server.join());
  if (settings.insecurePort > 0) {
    await steps.run('plain HTTP', async (say) => {
      const { insecurePort: port } = settings;
      const where = { host: INSECURE_HOST, port, portFlag: '--insecure-port' };
      const address = await explainListening(where, () => serveInsecure(http, port));
      log.warn('the API is served without authentication: every user of this machine is an administrator', { address });
      say(`${address}, WITHOUT AUTHENTICATION: every user of this machine is an administrator`);
    });
  }
  await steps.run('controllers', async (say) => say(describeComponents(plane)));
  const outlives = hasRunningPods(server);
  network?.outlives(outlives);
  const dns =
    network &&
    (await steps.run('DNS', async (say) => {
      const started = await startDns({ ...context, api, network, server, isShared });
      say(`${api.clusterDomain} at ${started.clusterIp}, on ${started.address}:${started.port}`);
      return started;
    }));
  const { leftOut, starting } = await steps.run('nodes', async (say) => {
    const authority = () => current.authority;
    const more = { plane, clusterDns: dns?.resolvers ?? [], outlives, authority, whenReady };
    const started = await startNodes(inputs.nodes, { ...context, ...nodesOptions(context), ...more });
    say(describeNodes(context));
    return started;
  });
  if (network && settings.ingress !== false) {
    await steps.run('ingress', async (say) => {
      const urls = await startIngress({ ...context, ...ingressOptions(settings), api, network, server });
      say(urls.join(', '));
    });
  }
  if (leftOut.length > 0) steps.line(describeLeftOut(leftOut));
  await directory.remember(settings);
  const published = await steps.run('kubeconfig', (say) => publish(context, pki, say));
  await announce(context);
  encryptStale();
  isReady = true;
  const seconds = secondsSinceStart();
  log.info('ready', { server: serverUrl(settings.bindAddress, settings.port), seconds: Number(seconds) });
  const waits = settings.wait && starting.length > 0;
  const announceReady = (unready: readonly UnreadyNode[] = []) =>
    steps.line(announcement(context, { published, seconds: secondsSinceStart(), unready }));
  if (!waits) announceReady();
  const checkReach = reachCheck(context, () => current);
  limitHeapGrowth();
  collectWithoutHelpers();
  setImmediate(() => http.prepare());
  plane.startComponents();
  manual?.follow(store, await store.revision());
  if (manual) await followClock({ ...context, manual }, server);
  markReady();
  network?.started();
  renewCertificates({
    ...keyOptions,
    pki,
    async apply(next) {
      current = next;
      http.renew(await tlsOf(next, settings));
      tokens.use(next);
      await server.renewFrontProxy(await frontProxyOf(next, settings));
      await plane.components?.use(keysFor(context, next));
      await publish(context, next, () => {});
    },
  });
  await checkReach();
  if (!waits) return [];
  const unready = await steps.run('waiting', async (say) => {
    const [names, ready] = [starting.map(({ name }) => name).join(', '), `the API is ready after ${seconds} s`];
    say(`${ready}; waiting for ${names}`);
    const options = { clock: machineClock, timeoutMs: NODES_READY_TIMEOUT_MS, signal: stopSignal };
    const found = await untilNodesReady(starting, options);
    say(
      `${ready}; ${found.length === 0 ? names : `${starting.length - found.length} of ${starting.length} nodes`} ready`,
    );
    return found;
  });
  announceReady(unready);
  await checkReach();
  return unready;
}

/** Says once what keeps clients from the server. Pods may have taken its port, those of an earlier start as well. */
function reachCheck({ settings, inputs, steps }: StartContext, pki: () => Pki): () => Promise<void> {
  const servers = new Set([serverUrl(settings.bindAddress, settings.port), urlOf(apiAddress({ settings, inputs }))]);
  const said = new Set<string>();
  return async () => {
    const { authority: ca, admin } = pki();
    const credentials = { ca, cert: admin.certificate, key: admin.key };
    const found = await Promise.all([...servers].map((server) => reachProblem(server, credentials)));
    for (const problem of found) {
      if (problem === undefined || said.has(problem)) continue;
      said.add(problem);
      steps.line(`\n${problem}`);
    }
  };
}

const secondsSinceStart = () => (performance.now() / 1_000).toFixed(2);

const MAX_NAMED_NODES = 10;

function describeLeftOut(names: readonly string[]): string {
  const more = names.length > MAX_NAMED_NODES ? ` and ${names.length - MAX_NAMED_NODES} more` : '';
  const named = `${names.slice(0, MAX_NAMED_NODES).join(', ')}${more}`;
  return `  left out: ${named}; NotReady until a start runs them again (--nodes), or kubectl delete node removes them`;
}

function publish({ settings, directory, clock }: StartContext, pki: Pki, say: Say): Promise<Published> {
  const { name, bindAddress, port, kubeconfig } = settings;
  const { authority: ca, admin } = pki;
  const access = { name, server: serverUrl(bindAddress, port), ca, cert: admin.certificate, key: admin.key };
  return publishAccess({ access, file: kubeconfig, directory, clock }, say);
}

/** Lets `qd list`, `qd down` and `qd reset` find the cluster, and what it has outside its directory. */
async function announce({ settings, inputs, directory, log }: StartContext): Promise<void> {
  const kubeconfigs = [publishedFile(settings.kubeconfig)];
  await writeLastStart(directory, {
    ...{ name: settings.name, version, pid: process.pid, kubeconfigs },
    nodes: inputs.nodes.names.length,
  });
  await rememberElsewhere(clustersHome(), directory).catch((error) => {
    log.debug('qd list will not show this cluster', { error });
  });
}
