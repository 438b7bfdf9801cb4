/**
 * The server's face to the network: HTTP/1.1, HTTP/2 and WebSockets in, calls out, replies back. Everything about sockets,
 * headers, media types and limits lives here; what a verb does, who may do it and what an object means do not.
 */
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Handle } from '../api.ts';
import type { Audit } from '../audit/audit.ts';
import type { Authenticate } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { BackendRegistry } from '../backends/backend-registry.ts';
import { Discovery, type VersionInfo } from '../discovery/discovery.ts';
import type { Admitting } from '../fairness/admitting.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Registry } from '../registry.ts';
import type { JsonDocument } from './documents/documents.ts';
import type { HealthCheck } from './documents/health.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Listeners, type ListenersOptions, openListeners, type Tls } from './listen/listeners.ts';
import { Pipeline } from './pipeline/pipeline.ts';

export interface HttpServerOptions {
  readonly handle: Handle;
  /** What is served: paths, discovery and schemas follow from it. */
  readonly backends: BackendRegistry;
  /** The kinds whose bodies can be in protobuf, and whose requests are counted. */
  readonly registry: Registry;
  readonly tls: Tls;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: VersionInfo;
  readonly isReady: () => boolean;
  /** What can be wrong beside that, such as the store. */
  readonly checks?: readonly HealthCheck[];
  /** What else is to be read, besides objects and what is said of them. */
  readonly documents?: readonly JsonDocument[];
  /** Where requests are counted; a new place, where absent. */
  readonly metrics?: Metrics;
  readonly limits?: Partial<Limits>;
  /** Where requests are noted. */
  readonly audit?: Audit | undefined;
  /** Who decides when a request is worked on; where absent, it is at once. */
  readonly admitting?: Admitting | undefined;
  /** `host:port` that discovery tells clients; the first address listened on, where absent. */
  readonly advertised?: string;
  /** Where sockets live; in this thread, where absent. */
  readonly open?: ((options: ListenersOptions) => Listeners) | undefined;
}

export interface HttpServer extends Pick<Listeners, 'listen' | 'listenInsecure' | 'renew'> {
  /** Does ahead what the first client would wait for; for a moment when nobody waits. */
  prepare(): void;
  /** Stops accepting, ends watches, lets requests in flight finish for a while, then closes what is left. */
  close(): Promise<void>;
}

/** What a TLS handshake costs, in requests. */
const HANDSHAKE = 10;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handle, registry, backends, authenticate, authorizer, isReady, log, version, clock, audit, admitting } =
    options;
  const limits = { ...defaultLimits, ...options.limits };
  const metrics = options.metrics ?? new Metrics(clock);
  metrics.requests.follow(registry);
  let address = options.advertised;
  const pipeline = new Pipeline({
    ...{
      handle,
      registry,
      backends,
      authenticate,
      authorizer,
      isReady,
      limits,
      log,
      clock,
      version,
      metrics,
      audit,
      admitting,
    },
    discovery: new Discovery({ backends, version, serverAddress: () => address ?? '' }),
    checks: options.checks ?? [],
    documents: options.documents ?? [],
  });
  const listeners = (options.open ?? openListeners)({
    ...{ tls: options.tls, limits, clock, log },
    pace: admitting && ((client) => admitting.stranger(client, HANDSHAKE)),
    serve: (exchange) => {
      pipeline.serve(exchange).catch((error: unknown) => log.error('a request could not be answered', { error }));
    },
  });
  admitting?.turnBy?.((task) => listeners.nextTurn(task));
  metrics.add(listeners, audit, admitting);
  const listening = async (listen: Promise<AddressInfo>) => {
    const found = await listen;
    address ??= found.family === 'IPv6' ? `[${found.address}]:${found.port}` : `${found.address}:${found.port}`;
    return found;
  };
  return {
    listen: (port, host) => listening(listeners.listen(port, host)),
    listenInsecure: (port, host) => listening(listeners.listenInsecure(port, host)),
    renew: (tls) => listeners.renew(tls),
    prepare: () => pipeline.prepare(),
    close() {
      const closed = listeners.close();
      pipeline.drain();
      return closed;
    },
  };
}
