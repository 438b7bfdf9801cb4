/** The start of a cluster, step by step. What a step opens is added to the clean-up, which closes it in reverse order. */
import { answering } from '../../server/http/documents/health.ts';
import { Metrics } from '../../server/metrics/metrics.ts';
import { rememberElsewhere } from '../clusters/elsewhere.ts';
import { writeLastStart } from '../clusters/last-start.ts';
import { clustersHome, DEFAULT_NAME, directoryOf } from '../flags/cluster.ts';
import type { Say } from '../output/steps.ts';
import type { Pki } from '../pki/pki.ts';
import { lowerHelperPriority } from '../process/helper-threads.ts';
import { freePort } from '../process/listen.ts';
import { version } from '../version.ts';
import { startServer } from './api/server.ts';
import { nodeCount, startNodes } from './components/nodes.ts';
import { prepareComponents } from './components/start-components.ts';
import type { Environment, StartContext } from './context.ts';
import { isDetached } from './detach/ready.ts';
import { type Directory, openDirectory, otherClusters } from './directory/directory.ts';
import type { Settings } from './flags.ts';
import { describeCertificates, openCertificates } from './identity/certificates.ts';
import { publishAccess, publishedFile, serverUrl } from './identity/kubeconfig.ts';
import { renewCertificates } from './identity/renewal.ts';
import { tokenSettings } from './identity/service-account-tokens.ts';
import { startFront } from './listeners/front-thread.ts';
import { listenHttps, listenInsecure, tlsOf } from './listeners/https.ts';
import { openAudit } from './observability/audit.ts';
import { type GivenFlags, settle } from './settings/settle.ts';
import { openStore } from './store/open.ts';

/** Resolves when the cluster is ready. */
export async function start(given: GivenFlags, environment: Environment): Promise<void> {
  const { steps, cleanup, clock, random, log } = environment;
  lowerHelperPriority(log);
  const openListeners = startFront(cleanup);
  steps.line(`Quarterdeck ${version}, cluster "${given.name ?? DEFAULT_NAME}"`);
  const directory = await steps.run('directory', (say) => takeDirectory(given, environment, say));
  const settings = await settleAll(given, directory);
  const nodes = nodeCount(settings);
  const context: StartContext = { ...environment, settings, directory: directory.path };
  const { store, encryptStale } = await steps.run('store', (say) => openStore(context, say));
  const pki = await steps.run('certificates', async (say) => {
    const opened = await openCertificates(context, store);
    describeCertificates(opened, say);
    return opened;
  });
  const metrics = new Metrics(clock);
  const tokens = tokenSettings(settings, pki, random);
  const measured = metrics.store.measured(store, clock);
  const server = await steps.run('API', (say) => startServer(context, { store: measured, tokens }, say));
  const audit = await openAudit(context);
  let isReady = false;
  const http = await steps.run('HTTPS', (say) => {
    const checks = [answering('etcd', () => store.revision(), clock)];
    const state = { metrics, audit, checks, isReady: () => isReady };
    return listenHttps(context, { server, pki, tokens, openListeners, ...state }, say);
  });
  cleanup.add(await server.join());
  if (settings.insecurePort > 0) await steps.run('plain HTTP', (say) => listenInsecure(context, http, say));
  const components = await steps.run('controllers', async (say) => prepareComponents(context, { server, pki }, say));
  if (nodes > 0) await steps.run('nodes', (say) => startNodes(settings, { ...environment, server }, say));
  await directory.remember(settings);
  const kubeconfig = await steps.run('kubeconfig', (say) => publish(context, pki, say));
  await announce(context, nodes);
  encryptStale();
  isReady = true;
  const url = serverUrl(settings.bindAddress, settings.port);
  const seconds = (performance.now() / 1_000).toFixed(2);
  log.info('ready', { server: url, seconds: Number(seconds) });
  steps.line(`\nReady in ${seconds} s: ${url}\n\n${nextSteps(kubeconfig, settings.name)}`);
  setImmediate(() => http.prepare());
  components.start();
  renewCertificates(context, {
    pki,
    store,
    async apply(next) {
      http.renew(await tlsOf(next, settings));
      tokens.use(next);
      await components.use(next);
      await publish(context, next, () => {});
    },
  });
}

async function takeDirectory(given: GivenFlags, { cleanup }: Environment, say: Say): Promise<Directory> {
  const path = directoryOf({ name: DEFAULT_NAME, ...given });
  const directory = await openDirectory(path);
  cleanup.add(() => directory.release());
  say(directory.isNew ? `${path} (new)` : path);
  return directory;
}

/** The port is never 0: certificates and the endpoints of the server name it before it is listened on. */
async function settleAll(given: GivenFlags, { remembered, path }: Directory): Promise<Settings> {
  const settings = await settle(given, remembered, () => otherClusters(clustersHome(), path));
  return settings.port === 0 ? { ...settings, port: await freePort(settings.bindAddress) } : settings;
}

/** Returns the kubeconfig file to name to kubectl; undefined when its default one has the cluster. */
function publish({ settings, directory, clock }: StartContext, pki: Pki, say: Say): Promise<string | undefined> {
  const { name, bindAddress, port, kubeconfig } = settings;
  const { authority: ca, admin } = pki;
  const access = { name, server: serverUrl(bindAddress, port), ca, cert: admin.certificate, key: admin.key };
  return publishAccess({ access, file: kubeconfig, directory, clock }, say);
}

/** Lets `qd list`, `qd down` and `qd reset` find the cluster, and what it has outside its directory. */
async function announce({ settings, directory, log }: StartContext, nodes: number): Promise<void> {
  const kubeconfigs = [publishedFile(settings.kubeconfig)];
  await writeLastStart(directory, { name: settings.name, version, pid: process.pid, nodes, kubeconfigs });
  await rememberElsewhere(clustersHome(), directory).catch((error) => {
    log.debug('qd list will not show this cluster', { error });
  });
}

function nextSteps(kubeconfig: string | undefined, name: string): string {
  const kubectl = kubeconfig === undefined ? `kubectl --context ${name}` : `kubectl --kubeconfig ${kubeconfig}`;
  return [
    'Next:',
    `  ${kubectl} get namespaces`,
    `  ${kubectl} create configmap hello --from-literal=greeting=hi`,
    `  ${kubectl} get configmap hello -o yaml`,
    '',
    `${isDetached() ? `qd down --name ${name}` : 'Ctrl-C'} stops the cluster; the next start continues it.`,
  ].join('\n');
}
