/** The ports that the API is served on. */

import type { JsonDocument } from '../../../api/json-document.ts';
import { HISTORY_PATH } from '../../../client/history-path.ts';
import type { Audit } from '../../../server/access/audit/audit.ts';
import { issuerDocuments, KEYS_PATH } from '../../../server/access/authn/issuer-documents.ts';
import type { Server } from '../../../server/index.ts';
import type { FrontProxy } from '../../../server/serving/aggregation/front-proxy.ts';
import type { HealthCheck } from '../../../server/serving/http/documents/health.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../../server/serving/http/server.ts';
import type { Metrics } from '../../../server/serving/metrics/metrics.ts';
import type { Say } from '../../output/steps.ts';
import type { Pki } from '../../pki/pki.ts';
import { explainListening } from '../../process/listen.ts';
import { apiVersion } from '../../version.ts';
import { limits } from '../api/load.ts';
import { hasRealPods } from '../components/plan-nodes.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';
import { authentication } from '../identity/authentication.ts';
import { clientAuthorities, proxyAuthorities } from '../identity/authentication-files.ts';
import { serverUrl } from '../identity/kubeconfig.ts';
import type { TokenSettings } from '../identity/service-account-tokens.ts';
import { addressForPods, reachableAddress } from './addresses.ts';
import { INSECURE_HOST } from './check.ts';
import { largeYamlDecoder } from './yaml-thread.ts';

interface HttpsDependencies {
  readonly server: Server;
  readonly pki: Pki;
  readonly tokens: TokenSettings;
  readonly metrics: Metrics;
  readonly audit: Audit | undefined;
  readonly checks: readonly HealthCheck[];
  readonly isReady: () => boolean;
  readonly openListeners: HttpServerOptions['open'];
}

/** Serves the API over HTTPS. */
export async function listenHttps(
  context: StartContext,
  dependencies: HttpsDependencies,
  say: Say,
): Promise<HttpServer> {
  const { settings, inputs, cleanup, clock, machineClock, log, monitor, eventLoops, openPorts } = context;
  const { server, pki, tokens, metrics, audit, checks, isReady, openListeners } = dependencies;
  const { handle, registry, backends, authorizer, flowControl } = server;
  const { bindAddress, port } = settings;
  const { authenticate, identify } = await authentication({
    ...{ settings, files: inputs.authentication, clock, log, tokens },
    find: server.find,
  });
  server.identifyBy(identify);
  const [issuer] = tokens.issuers;
  const hasPods = hasRealPods(inputs.nodes);
  const forPods = hasPods ? addressForPods(bindAddress) : undefined;
  const url = serverUrl(reachableAddress(bindAddress, settings.serviceClusterIpRange, hasPods), port);
  const http = createHttpServer({
    ...{ handle, registry, backends, authorizer, log, version: apiVersion, metrics, checks, audit, flowControl },
    clock: machineClock,
    limits: limits(settings),
    decodeLargeYaml: largeYamlDecoder(context),
    tls: await tlsOf(pki, settings),
    documents: currentDocuments(() => [
      ...issuerDocuments({ issuer, keysUrl: `${url}${KEYS_PATH}`, keys: tokens.keys }),
      { path: HISTORY_PATH, type: 'application/json', content: server.history() },
    ]),
    authenticate,
    ...{ open: openListeners, monitor, onBlocked: (blockage) => eventLoops.add(blockage) },
    isReady,
  });
  cleanup.add(() => http.close());
  await explainListening({ host: bindAddress, port }, () => http.listen(port, bindAddress));
  openPorts.push({ address: bindAddress, port, what: 'API' });
  if (forPods !== undefined) {
    await explainListening({ host: forPods, port }, () => http.listen(port, forPods));
    openPorts.push({ address: forPods, port, what: 'API, for pods' });
  }
  say([bindAddress, ...(forPods === undefined ? [] : [forPods])].map((host) => serverUrl(host, port)).join(', '));
  return http;
}

/** The serving certificate, and the authorities whose client certificates are accepted. */
export async function tlsOf({ serving, authority }: Pki, settings: Settings) {
  return {
    ...{ key: serving.key, cert: serving.certificate },
    ca: await clientAuthorities(authority, settings.clientCaFile),
    proxyCa: await proxyAuthorities(settings),
  };
}

/** How aggregated API servers recognize this one and other proxies, and the users whose certificates they accept. */
export async function frontProxyOf({ frontProxy, authority }: Pki, settings: Settings): Promise<FrontProxy> {
  const proxyCa = await proxyAuthorities(settings);
  const headers = {
    username: settings.requestheaderUsernameHeaders,
    group: settings.requestheaderGroupHeaders,
    extraPrefixes: settings.requestheaderExtraHeadersPrefix,
  };
  const others = proxyCa && { authority: proxyCa, names: settings.requestheaderAllowedNames ?? [], headers };
  return {
    ...frontProxy,
    clientAuthority: await clientAuthorities(authority, settings.clientCaFile),
    ...(others ? { others } : {}),
  };
}

/** Documents whose content changes; their paths stay. */
function currentDocuments(make: () => readonly JsonDocument[]): readonly JsonDocument[] {
  return make().map(({ path, type }, index) => ({
    path,
    type,
    get content() {
      return make()[index]!.content;
    },
  }));
}

/** Serves the API over plain HTTP, without authentication, on loopback. */
export async function listenInsecure({ settings, log }: StartContext, http: HttpServer, say: Say): Promise<void> {
  const port = settings.insecurePort;
  const host = INSECURE_HOST;
  await explainListening({ host, port, portFlag: '--insecure-port' }, () => http.listenInsecure(port, host));
  const address = `http://${host}:${port}`;
  log.warn('the API is served without authentication: every user of this machine is an administrator', { address });
  say(`${address}, WITHOUT AUTHENTICATION: every user of this machine is an administrator`);
}
