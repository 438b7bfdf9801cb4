/** Starts a control plane in this process: the API server on a store, and the controllers and the scheduler beside it. */
import type { Handle } from '../../api/call.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { Clock } from '../../kinds/groups/testing/clock.ts';
import { Fault } from '../../kinds/groups/testing/fault.ts';
import { type AddressOf, createServer, type Server, type ServerOptions } from '../../server/index.ts';
import type { NodeConnection } from '../../server/outbound/nodes/connection.ts';
import { FaultInjector } from '../../server/serving/faults/fault-injector.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';
import { followFaults } from '../test-facilities/follow-faults.ts';
import type { ManualClock } from '../test-facilities/manual-clock.ts';
import { type ComponentOptions, type ComponentServer, Components } from './components.ts';
import { NodeConnections } from './node-connections.ts';
import { LocalScheduler } from './scheduler.ts';

/** Server options that the assembly sets. */
type Ports = keyof Tools | 'monitor' | 'nodes' | 'explainPod';

export interface ControlPlaneOptions extends Tools {
  /** How the API server is configured, and what it serves. */
  readonly api: Omit<ServerOptions, Ports>;
  /** Which controllers run, and how; absent: none do, and no scheduler. */
  readonly components?: Omit<ComponentOptions, keyof Tools | 'monitor'> | undefined;
  /** Reaches nodes of other processes, whose agents listen where `addressOf` says; absent: none is reached. */
  readonly remoteNodes?: ((addressOf: AddressOf) => NodeConnection) | undefined;
  /** True when faults are served, by which clients disturb requests. */
  readonly faults?: boolean | undefined;
  /** The clock of the cluster, when its users move it. */
  readonly manual?: ManualClock | undefined;
  /** Is told what runs. */
  readonly monitor?: WorkMonitor | undefined;
  /** Stops what was started. */
  readonly cleanup: Cleanup;
}

export interface ControlPlane {
  /** It listens nowhere by itself. */
  readonly server: Server;
  /** How the server reaches nodes; those of this process are added. */
  readonly nodes: NodeConnections;
  readonly components: Components | undefined;
  /** Their number. */
  readonly builtInKinds: number;
  /** Starts the controllers and the scheduler; they call `server`, by default the server itself. */
  startComponents(server?: ComponentServer): void;
}

/** Who moves the clock by days would otherwise wait for every component to start its watches again, twice an hour. */
const MANUAL_CLOCK_WATCH_MS = 7 * 86_400_000;

/** Resolves when the API can be called. Controllers and the scheduler are started by the caller. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { api, manual, monitor, remoteNodes, cleanup, clock, random, log } = options;
  const scheduler = new LocalScheduler();
  const components =
    options.components && new Components({ ...options.components, clock, random, log, monitor }, scheduler);
  const nodes = new NodeConnections();
  // Faults are left alone, so that one that concerns everything can be removed.
  const injector = options.faults ? new FaultInjector({ clock, random, spared: Fault.plural }) : undefined;
  const kinds = [...api.kinds, ...(manual ? [Clock] : []), ...(injector ? [Fault] : [])];
  const server = await createServer({
    minWatchMs: manual && MANUAL_CLOCK_WATCH_MS,
    ...api,
    clock,
    random,
    log,
    monitor,
    explainPod: scheduler.explainPod,
    kinds,
    intercept: intercepting(api.intercept, manual?.intercept, injector && ((handle) => injector.intercept(handle))),
    nodes: (addressOf) => nodes.over(remoteNodes?.(addressOf)),
  });
  cleanup.add(async () => server.close());
  if (injector) followFaults(options, server, injector);
  return {
    server,
    nodes,
    components,
    builtInKinds: kinds.length,
    startComponents: (called = server) => components?.start(called, cleanup),
  };
}

type Intercept = (handle: Handle) => Handle;

/** Wraps calls in all that there are, the first of them innermost. */
function intercepting(...all: readonly (Intercept | undefined)[]): Intercept | undefined {
  const wraps = all.filter((each) => each !== undefined);
  if (wraps.length === 0) return undefined;
  return (handle) => wraps.reduce((inner, wrap) => wrap(inner), handle);
}
