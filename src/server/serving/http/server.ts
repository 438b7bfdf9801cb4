/** The API over HTTP: combines the listeners and the pipeline. */
import type { AddressInfo } from 'node:net';
import type { Handle } from '../../../api/call.ts';
import type { JsonDocument } from '../../../api/json-document.ts';
import type { ServedAction, ServedTree } from '../../../api/served-action.ts';
import { unmonitored, type WorkMonitor } from '../../../base/event-loop/watchdog.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Audit } from '../../access/audit/audit.ts';
import type { Authenticate } from '../../access/authn/authenticator.ts';
import type { Authorizer } from '../../access/authz/authorizer.ts';
import type { FlowControl } from '../../access/fairness/flow-control.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import type { BackendRegistry } from '../backends/backend-registry.ts';
import type { DecodeYaml } from '../codec/yaml.ts';
import { Discovery, type VersionInfo } from '../discovery/discovery.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { HealthCheck } from './documents/health.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Listeners, type ListenersOptions, openListeners, type Tls } from './listen/listeners.ts';
import { Pipeline } from './pipeline/pipeline.ts';

export interface HttpServerOptions extends Pick<Tools, 'log' | 'clock'> {
  readonly handle: Handle;
  /** The backends, from which paths, discovery and schemas are derived. */
  readonly backends: BackendRegistry;
  /** The kinds with protobuf bodies, whose requests are counted. */
  readonly registry: Registry;
  readonly tls: Tls;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly version: VersionInfo;
  readonly isReady: () => boolean;
  /** Additional health checks, such as that of the store. */
  readonly checks?: readonly HealthCheck[];
  /** Documents served besides objects, discovery and schemas. */
  readonly documents?: readonly JsonDocument[];
  /** Paths that answer according to the user. */
  readonly actions?: readonly ServedAction[];
  /** Paths with everything below them that answer with JSON. */
  readonly trees?: readonly ServedTree[];
  readonly metrics?: Metrics;
  readonly limits?: Partial<Limits>;
  /** Decodes large YAML bodies. Default: on the event loop, with a lower limit. */
  readonly decodeLargeYaml?: DecodeYaml | undefined;
  /** The audit log; when absent, none is written. */
  readonly audit?: Audit | undefined;
  /** Flow control; when absent, every request is served at once. */
  readonly flowControl?: FlowControl | undefined;
  /** The `host:port` that discovery advertises. Default: the first address listened on. */
  readonly advertised?: string;
  readonly monitor?: WorkMonitor;
  /** Called when the thread of the listeners was blocked, if they have their own. */
  readonly onBlocked?: ListenersOptions['onBlocked'];
  /** Opens the listeners. Default: in this thread. */
  readonly open?: ((options: ListenersOptions) => Listeners) | undefined;
}

export interface HttpServer extends Pick<Listeners, 'listen' | 'listenInsecure' | 'renew'> {
  /** Prepares the documents that clients request first. Should be called when the server is idle. */
  prepare(): void;
  /** Stops accepting, ends watches, lets requests in flight finish for a while, then closes the rest. */
  close(): Promise<void>;
}

/** Cost of a TLS handshake, in requests. */
const HANDSHAKE_COST = 10;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handle, registry, backends, authenticate, authorizer, isReady, log, version, clock, audit, flowControl } =
    options;
  const limits = { ...defaultLimits, ...options.limits };
  const metrics = options.metrics ?? new Metrics(clock);
  metrics.requests.follow(registry);
  let address = options.advertised;
  const pipeline = new Pipeline({
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
    flowControl,
    decodeLargeYaml: options.decodeLargeYaml,
    discovery: new Discovery({ backends, version, serverAddress: () => address ?? '' }),
    monitor: options.monitor ?? unmonitored,
    checks: options.checks ?? [],
    documents: options.documents ?? [],
    actions: options.actions ?? [],
    trees: options.trees ?? [],
  });
  const listeners = (options.open ?? openListeners)({
    tls: options.tls,
    limits,
    clock,
    log,
    onBlocked: options.onBlocked,
    pace: flowControl && ((address) => flowControl.delayUnauthenticated(address, HANDSHAKE_COST)),
    serve: (exchange) => {
      pipeline.serve(exchange).catch((error: unknown) => log.error('a request could not be answered', { error }));
    },
  });
  flowControl?.setNextTurn?.((task) => listeners.nextTurn(task));
  metrics.add(listeners, audit, flowControl);
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
