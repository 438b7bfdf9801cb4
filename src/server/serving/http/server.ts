/** The API over HTTP: combines the listeners and the pipeline. */
import type { AddressInfo } from 'node:net';
import { unmonitored } from '../../../base/event-loop/watchdog.ts';
import { systemRandom } from '../../../base/random.ts';
import { Discovery } from '../discovery/discovery.ts';
import { Metrics } from '../metrics/metrics.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Listeners, type ListenersOptions, openListeners, type Tls } from './listen/listeners.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import type { PipelineOptions } from './pipeline/stages.ts';

/** Documents besides objects, discovery and schemas, and other parts that a server can be without. */
type Defaulted = 'documents' | 'checks' | 'actions' | 'trees' | 'metrics' | 'monitor' | 'random';

export interface HttpServerOptions
  extends Omit<PipelineOptions, Defaulted | 'discovery' | 'limits'>,
    Partial<Pick<PipelineOptions, Defaulted>> {
  readonly tls: Tls;
  readonly limits?: Partial<Limits>;
  /** The `host:port` that discovery advertises. Default: the first address listened on. */
  readonly advertised?: string;
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
  const { registry, backends, log, version, clock, audit, flowControl } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const metrics = options.metrics ?? new Metrics(clock);
  metrics.requests.follow(registry);
  let address = options.advertised;
  const pipeline = new Pipeline({
    ...options,
    limits,
    random: options.random ?? systemRandom,
    metrics,
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
