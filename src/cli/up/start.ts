/** The start of a cluster, step by step. What a step opens is added to the clean-up, which closes it in reverse order. */
import { answering, logCheck } from '../../server/serving/http/documents/health.ts';
import { Metrics } from '../../server/serving/metrics/metrics.ts';
import { ObjectMetrics } from '../../server/serving/metrics/objects.ts';
import { storeDriver } from '../../store/drivers.ts';
import { rememberElsewhere } from '../clusters/elsewhere.ts';
import { writeLastStart } from '../clusters/last-start.ts';
import { clustersHome } from '../flags/cluster.ts';
import type { Say } from '../output/steps.ts';
import type { Pki } from '../pki/pki.ts';
import { limitHeapGrowth } from '../process/heap-growth.ts';
import { collectWithoutHelpers, lowerHelperPriority } from '../process/helper-threads.ts';
import { machineGuard } from '../process/machine-guard.ts';
import { version } from '../version.ts';
import { announcement } from './announcement.ts';
import { startServer } from './api/server.ts';
import { startDns } from './components/dns.ts';
import { startIngress } from './components/ingress.ts';
import { hasRunningPods, openNetwork } from './components/network.ts';
import { startNodes } from './components/nodes.ts';
import { type UnreadyNode, untilNodesReady } from './components/nodes-ready.ts';
import { hasRealPods } from './components/plan-nodes.ts';
import { remoteConnection } from './components/remote-nodes.ts';
import { prepareComponents } from './components/start-components.ts';
import type { Environment, StartContext } from './context.ts';
import { describeCertificates, openCertificates } from './identity/certificates.ts';
import { type Published, publishAccess, publishedFile, serverUrl } from './identity/kubeconfig.ts';
import { renewCertificates } from './identity/renewal.ts';
import { tokenSettings } from './identity/service-account-tokens.ts';
import { reachableAddress } from './listeners/addresses.ts';
import { startFront } from './listeners/front-thread.ts';
import { frontProxyOf, listenHttps, listenInsecure, tlsOf } from './listeners/https.ts';
import { reachProblem } from './listeners/self-check.ts';
import { openAudit } from './observability/audit.ts';
import { prepare } from './prepare.ts';
import type { GivenFlags } from './settings/settle.ts';
import { openStore } from './store/open.ts';
import { followClock } from './testing/clock.ts';
import { restoreInto } from './testing/restore.ts';

/** How long the nodes may take. */
const NODES_READY_TIMEOUT_MS = 60_000;

/** Resolves when the cluster is ready, with the nodes that are not. */
export async function start(given: GivenFlags, environment: Environment): Promise<readonly UnreadyNode[]> {
  const { steps, cleanup, machineClock, random, log, stopSignal } = environment;
  lowerHelperPriority(log);
  const openListeners = startFront(cleanup);
  const { directory, context } = await prepare(given, environment);
  const { settings, inputs } = context;
  steps.line(`Quarterdeck ${version}, cluster "${settings.name}"`);
  await steps.run('directory', async (say) => {
    await directory.create();
    say(directory.isNew ? `${directory.path} (new)` : directory.path);
  });
  const network = openNetwork(context);
  const { store, encryptStale } = await steps.run('store', (say) => openStore(context, say));
  const pki = await steps.run('certificates', async (say) => {
    const opened = await openCertificates(context, store);
    describeCertificates(opened, say);
    return opened;
  });
  const { restore } = inputs;
  if (restore) await steps.run('objects', (say) => restoreInto(store, restore, say));
  const metrics = new Metrics(machineClock);
  metrics.add(environment.eventLoops);
  const tokens = tokenSettings(settings, pki, random);
  const measured = metrics.store.measured(store, machineClock);
  const server = await steps.run('API', (say) => startServer(context, { store: measured, tokens }, say));
  metrics.add(new ObjectMetrics(() => server.registry.kinds, server.count));
  const audit = await openAudit(context, inputs.audit);
  let isReady = false;
  let markReady!: () => void;
  const whenReady = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const http = await steps.run('HTTPS', (say) => {
    const own = [logCheck(log), answering('etcd', () => store.revision(), machineClock)];
    const checks = [...own, ...server.checks];
    const state = { metrics, audit, checks, isReady: () => isReady };
    return listenHttps(context, { server, pki, tokens, openListeners, ...state }, say);
  });
  await server.identifyAs(await frontProxyOf(pki, settings));
  cleanup.add(await server.join());
  if (settings.insecurePort > 0) await steps.run('plain HTTP', (say) => listenInsecure(context, http, say));
  const components = await steps.run('controllers', async (say) =>
    prepareComponents(context, { server, pki, metrics }, say),
  );
  const isShared = storeDriver(settings.store).shared;
  const outlives = hasRunningPods(server);
  network?.outlives(outlives);
  const clusterDns = network ? await steps.run('DNS', (say) => startDns(context, { network, server }, say)) : [];
  let current = pki;
  const remote = remoteConnection(server, () => current, { ...environment, guard: machineGuard(settings) });
  const { leftOut, starting } = await steps.run('nodes', (say) =>
    startNodes(
      inputs.nodes,
      {
        ...context,
        server,
        isShared,
        clusterDns,
        remote,
        outlives,
        network,
        authority: () => current.authority,
        whenReady,
      },
      say,
    ),
  );
  if (network && settings.ingress !== false) {
    await steps.run('ingress', (say) => startIngress(context, { network, server }, say));
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
  components.start();
  environment.manual?.follow(store, await store.revision());
  await followClock(context, server);
  markReady();
  network?.started();
  renewCertificates(context, {
    pki,
    store,
    async apply(next) {
      current = next;
      http.renew(await tlsOf(next, settings));
      tokens.use(next);
      await server.identifyAs(await frontProxyOf(next, settings));
      await components.use(next);
      await publish(context, next, () => {});
    },
  });
  await checkReach();
  if (!waits) return [];
  const unready = await steps.run('waiting', async (say) => {
    const [names, api] = [starting.map(({ name }) => name).join(', '), `the API is ready after ${seconds} s`];
    say(`${api}; waiting for ${names}`);
    const options = { clock: machineClock, timeoutMs: NODES_READY_TIMEOUT_MS, signal: stopSignal };
    const found = await untilNodesReady(starting, options);
    say(
      `${api}; ${found.length === 0 ? names : `${starting.length - found.length} of ${starting.length} nodes`} ready`,
    );
    return found;
  });
  announceReady(unready);
  await checkReach();
  return unready;
}

/** Says once what keeps clients from the server. Pods may have taken its port, those of an earlier start as well. */
function reachCheck({ settings, inputs, steps }: StartContext, pki: () => Pki): () => Promise<void> {
  const { bindAddress, port, serviceClusterIpRange } = settings;
  const reached = reachableAddress(bindAddress, serviceClusterIpRange, hasRealPods(inputs.nodes));
  const servers = new Set([serverUrl(bindAddress, port), serverUrl(reached, port)]);
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
