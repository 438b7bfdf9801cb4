/** The start of a cluster, step by step. What a step opens goes to the clean-up, which closes it in the opposite order. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { allControllers } from '../../controllers/all.ts';
import { allKinds } from '../../kinds/all.ts';
import type { Audit } from '../../server/audit/audit.ts';
import { issuerDocuments, KEYS_PATH } from '../../server/authn/issuer-documents.ts';
import { answering, type HealthCheck } from '../../server/http/documents/health.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../server/http/server.ts';
import { createServer, type Server } from '../../server/index.ts';
import { Metrics } from '../../server/metrics/metrics.ts';
import type { Store } from '../../store/index.ts';
import type { Say, Steps } from '../output/steps.ts';
import { signingAuthority } from '../pki/authority.ts';
import { openPki, type Pki } from '../pki/pki.ts';
import type { Cleanup } from '../process/cleanup.ts';
import { freePort, opening } from '../process/listen.ts';
import { apiVersion, release, version } from '../version.ts';
import { admission } from './api/admission-flags.ts';
import { authorization } from './api/authorization.ts';
import { fairness, limits } from './api/load-flags.ts';
import { startControllers } from './components/controllers.ts';
import { chosen, isChosen, SCHEDULER } from './components/controllers-flag.ts';
import { startNodes, wantedNodes } from './components/nodes.ts';
import { startScheduler } from './components/scheduler.ts';
import { type Directory, openDirectory, otherClusters } from './directory/directory.ts';
import type { UpFlags } from './flags.ts';
import { authentication, clientAuthorities } from './identity/authentication.ts';
import { publishAccess, serverUrl } from './identity/kubeconfig.ts';
import { renewing } from './identity/renewing.ts';
import { type TokenSettings, tokenSettings, tokenSigner } from './identity/service-account-tokens.ts';
import { advertisedAddress, reachableAddress, servingNames } from './listeners/addresses.ts';
import { startFront } from './listeners/front-thread.ts';
import { openAudit } from './observability/audit.ts';
import { type Remembered, settle } from './settings/settings.ts';
import { encrypting, keyFileIn } from './store/encryption.ts';
import { history, openStore } from './store/store.ts';

/** What a start works with. */
export interface Site {
  readonly flags: UpFlags;
  readonly steps: Steps;
  readonly cleanup: Cleanup;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Resolves when the cluster is ready. */
export async function start(site: Site): Promise<void> {
  const { flags, steps, log, clock } = site;
  const nodes = wantedNodes(flags);
  const openListeners = startFront(site.cleanup);
  steps.line(`Quarterdeck ${version}, cluster "${flags.name}"`);
  const directory = await steps.run('directory', (say) => takeDirectory(site, say));
  const settings = await settleAll(flags, directory);
  const pki = await steps.run('certificates', (say) => makeKeys(site, { directory, settings }, say));
  const { store, begin } = await steps.run('store', (say) => open(site, { directory, settings }, say));
  const metrics = new Metrics(clock);
  const measured = metrics.store.measured(store, clock);
  const tokens = tokenSettings(flags, pki, site.random);
  const server = await steps.run('API', (say) => serve(site, { settings, store: measured, tokens }, say));
  const state = { isReady: false };
  const face = {
    openListeners,
    audit: await openAudit({ ...site, directory: directory.path }),
    settings,
    pki,
    tokens,
    server,
    state,
    metrics,
    checks: [answering('etcd', () => store.revision(), clock)],
  };
  const http = await steps.run('HTTPS', (say) => listen(site, face, say));
  if (flags.insecurePort > 0) await steps.run('plain HTTP', (say) => listenPlainly(site, http, say));
  const drive = await steps.run('controllers', async (say) => driving(site, { settings, pki, server, directory }, say));
  if (nodes > 0) await steps.run('nodes', (say) => startNodes(flags, { ...site, server }, say));
  await directory.remember(settings);
  const url = serverUrl(settings.bindAddress, settings.port);
  const publish = ({ authority: ca, admin }: Pki, say: Say) => {
    const access = { name: flags.name, server: url, ca, cert: admin.certificate, key: admin.key };
    return publishAccess({ access, given: flags.kubeconfig, directory: directory.path, clock }, say);
  };
  const kubeconfig = await steps.run('kubeconfig', (say) => publish(pki, say));
  const again = { open: () => keysOf(site, { directory, settings }), publish: (next: Pki) => publish(next, () => {}) };
  renewing({ pki, http, ...again, cleanup: site.cleanup, clock, log });
  begin();
  state.isReady = true;
  const seconds = (performance.now() / 1_000).toFixed(2);
  log.info('ready', { server: url, seconds: Number(seconds) });
  steps.line(`\nReady in ${seconds} s: ${url}\n\n${nextSteps(kubeconfig, flags.name)}`);
  setImmediate(() => http.prepare());
  drive();
}

const home = () => join(homedir(), '.quarterdeck');

async function takeDirectory({ flags, cleanup }: Site, say: Say): Promise<Directory> {
  const path = resolve(flags.dataDir ?? join(home(), flags.name));
  const directory = await openDirectory(path);
  cleanup.add(() => directory.release());
  say(directory.isNew ? `${path} (new)` : path);
  return directory;
}

/** With a port that is not 0: the certificate is made, and the endpoints of the server are written, before it listens. */
async function settleAll(flags: UpFlags, { remembered, path }: Directory): Promise<Remembered> {
  const settings = await settle(flags, remembered, () => otherClusters(home(), path));
  return settings.port === 0 ? { ...settings, port: await freePort(settings.bindAddress) } : settings;
}

interface Place {
  readonly directory: Directory;
  readonly settings: Remembered;
}

function keysOf({ clock, random }: Site, { directory, settings }: Place): Promise<Pki> {
  const names = servingNames(settings.bindAddress, settings.serviceClusterIpRange);
  return openPki({ directory: join(directory.path, 'pki'), names, clock, random });
}

async function makeKeys(site: Site, place: Place, say: Say): Promise<Pki> {
  const pki = await keysOf(site, place);
  say(pki.made.length > 0 ? `made ${pki.made.join(', ')}` : 'unchanged');
  return pki;
}

async function open(site: Site, { directory, settings }: Place, say: Say): Promise<{ store: Store; begin(): void }> {
  const { flags, cleanup, clock, random, log } = site;
  const store = await openStore({ settings, flags, directory: directory.path, clock, log });
  cleanup.add(() => store.close());
  say(`${settings.store}, revision ${await store.revision()}`);
  // What is only in memory is never at rest.
  if (settings.store === 'memory') return { store, begin: () => undefined };
  const file = flags.encryptionKeyFile ?? keyFileIn(directory.path);
  return encrypting(store, { file, cleanup, log, random });
}

async function serve(
  { flags, cleanup, clock, random, log }: Site,
  { settings, store, tokens }: { settings: Remembered; store: Store; tokens: TokenSettings },
  say: Say,
): Promise<Server> {
  const { bindAddress, port, serviceClusterIpRange, serviceNodePortRange } = settings;
  const server = await createServer({
    ...{ store, kinds: allKinds, clock, random, log, serviceClusterIpRange, ...history(flags) },
    serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
    tokenIssuer: tokens.bound,
    release: settings.store === 'embedded' ? release : undefined,
    ...(await authorization(flags)),
    ...admission(flags),
    ...fairness(flags),
    defaultRoles: true,
    garbageCollection: isChosen('garbage-collector', flags),
    advertise: { address: advertisedAddress(bindAddress, serviceClusterIpRange), port },
  });
  cleanup.add(async () => server.close());
  say(`${allKinds.length} kinds`);
  return server;
}

interface Face {
  readonly openListeners: HttpServerOptions['open'];
  readonly audit: Audit | undefined;
  readonly tokens: TokenSettings;
  readonly settings: Remembered;
  readonly pki: Pki;
  readonly server: Server;
  readonly state: { readonly isReady: boolean };
  readonly metrics: Metrics;
  readonly checks: readonly HealthCheck[];
}

async function listen(site: Site, face: Face, say: Say): Promise<HttpServer> {
  const { flags, cleanup, clock, log } = site;
  const { settings, pki, tokens, server, state, metrics, checks, audit, openListeners } = face;
  const { handle, registry, authorizer, admitting } = server;
  const { serving, authority } = pki;
  const { bindAddress, port } = settings;
  const { authenticate, identify } = await authentication({ flags, clock, log, tokens, find: server.find });
  server.identifyBy(identify);
  const [issuer] = tokens.issuers;
  const at = serverUrl(reachableAddress(bindAddress, settings.serviceClusterIpRange), port);
  const http = createHttpServer({
    ...{ handle, registry, authorizer, log, clock, version: apiVersion, metrics, checks, audit, admitting },
    ...limits(flags),
    tls: {
      key: serving.key,
      cert: serving.certificate,
      ca: await clientAuthorities(authority, flags.clientCaFile),
    },
    documents: issuerDocuments({ issuer, keysUrl: `${at}${KEYS_PATH}`, keys: tokens.keys }),
    authenticate,
    open: openListeners,
    isReady: () => state.isReady,
  });
  cleanup.add(() => http.close());
  await opening(bindAddress, port, '--port', () => http.listen(port, bindAddress));
  say(serverUrl(bindAddress, port));
  return http;
}

async function listenPlainly({ flags, log }: Site, http: HttpServer, say: Say): Promise<void> {
  const port = flags.insecurePort;
  await opening('127.0.0.1', port, '--insecure-port', () => http.listenInsecure(port, '127.0.0.1'));
  const address = `http://127.0.0.1:${port}`;
  log.warn('the API is served without authentication: everybody on this machine is admin', { address });
  say(`${address}, WITHOUT AUTHENTICATION: everybody on this machine is admin`);
}

/** Returns what starts those who drive the cluster: once it is ready, for they read all there is, and can wait that long. */
function driving(
  { flags, cleanup, clock, random, log }: Site,
  { settings, pki, server, directory }: Pick<Face, 'settings' | 'pki' | 'server'> & Pick<Place, 'directory'>,
  say: Say,
): () => void {
  const { bindAddress, port, serviceClusterIpRange } = settings;
  const all = allControllers({
    kinds: () => server.registry.kinds,
    onKindsChange: (listener) => server.registry.onChange(listener),
    // Simulated nodes bring their ranges along.
    podRange: flags.runtime === 'simulated' ? undefined : (flags.clusterCidr ?? '10.244.0.0/16'),
    volumesDirectory: resolve(flags.volumesDir ?? join(directory.path, 'volumes')),
    authority: pki.authority,
    mintToken: tokenSigner(pki.serviceAccountKey),
    signCertificate: signingAuthority({ ...pki.signing, longest: flags.clusterSigningDuration, clock, random }),
    reservedNames: servingNames(bindAddress, serviceClusterIpRange),
    server: serverUrl(reachableAddress(bindAddress, serviceClusterIpRange), port),
  });
  const controllers = chosen(all, flags);
  const schedules = isChosen(SCHEDULER, flags);
  say([...controllers.map(({ name }) => name), ...(schedules ? [SCHEDULER] : [])].join(', '));
  const tools = { clock, random, log, isShared: settings.store === 'etcd' };
  return () => {
    cleanup.add(startControllers(controllers, server.handle, tools));
    if (schedules) cleanup.add(startScheduler(server, tools));
  };
}

function nextSteps(kubeconfig: string | undefined, name: string): string {
  const kubectl = kubeconfig === undefined ? `kubectl --context ${name}` : `kubectl --kubeconfig ${kubeconfig}`;
  return [
    'Next:',
    `  ${kubectl} get namespaces`,
    `  ${kubectl} create configmap hello --from-literal=greeting=hi`,
    `  ${kubectl} get configmap hello -o yaml`,
    '',
    'Ctrl-C stops the cluster; the next start goes on where it was.',
  ].join('\n');
}
