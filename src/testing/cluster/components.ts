/** Starts the components of a cluster in this process. Each calls the server directly, as its own user. */

import type { User } from '../../api/user.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import {
  CONTROLLER_MANAGER,
  controllerUser,
  nodeUser,
  SCHEDULER,
  SIMULATED_NODES,
} from '../../client/component-users.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { forwardedTransport } from '../../client/transport/forwarded-transport.ts';
import { allControllers, type ControllerOptions } from '../../controllers/all.ts';
import { runControllers } from '../../controllers/loop/loop.ts';
import type { Rules } from '../../node/simulated/rules/rules.ts';
import { type SimulatedNodes, startSimulatedNodes } from '../../node/simulated/simulated.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import type { Server } from '../../server/index.ts';
import { unreachable } from '../../server/outbound/nodes/connection.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';

export interface ComponentOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The way into the server for a component. */
  readonly directFor: (user: User) => DirectHandle;
}

/** Stops a component; resolves when its work in progress is done. */
export type Stop = () => Promise<void>;

const SCHEDULER_NAME = 'default-scheduler';
/** The kubelet version that nodes report. */
const NODE_VERSION = 'v1.36.4';
/** Leases are long, so that little happens while a test moves the clock by days. A node that fails shortens its own. */
const LEASE_RENEWAL_MS = 3_600_000;
const POD_RANGE = '10.244.0.0/16';

export type ControllerKeys = Pick<ControllerOptions, 'authority' | 'mintToken' | 'signCertificate'>;

export function startControllers(options: ComponentOptions, keys: ControllerKeys): Stop {
  const { server, directFor, ...tools } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const clientOf = (account: string) => {
    const user = controllerUser(account);
    return createClient(directTransport(directFor(user)), forwardedTransport(server.forward(user), tools));
  };
  const informers = new InformerFactory({ ...tools, client: clientOf(CONTROLLER_MANAGER), signal });
  const controllers = allControllers({
    ...keys,
    kinds: () => server.registry.kinds,
    aggregated: () => server.backends.proxied(),
    onKindsChange: (listener) => server.backends.onChange(listener),
    reservedNames: ['kubernetes.default.svc'],
    server: 'https://192.0.2.1:6443',
  });
  const running = runControllers(controllers, { ...tools, clientOf, informers, signal });
  return async () => {
    stop.abort();
    await running;
    await informers.stopped();
  };
}

export function startScheduler({ server, directFor, ...tools }: ComponentOptions): Stop {
  const stop = new AbortController();
  const common = { ...tools, client: clientFor(directFor, SCHEDULER), signal: stop.signal };
  const informers = new InformerFactory(common);
  const recorder = createEventRecorder({ ...common, component: SCHEDULER_NAME });
  const scheduler = new Scheduler({ ...common, informers, recorder, name: SCHEDULER_NAME });
  server.explainPodsBy((namespace, name) => scheduler.explain(namespace, name));
  const running = scheduler.run();
  return async () => {
    stop.abort();
    await running;
    await informers.stopped();
  };
}

/** Resolves when the nodes are registered. */
export async function startNodes(
  { server, directFor, ...tools }: ComponentOptions,
  { names, rules }: { readonly names: readonly string[]; readonly rules: Rules },
): Promise<Stop> {
  const nodes = await startSimulatedNodes({
    ...{ ...tools, names, rules, clusterCidr: POD_RANGE, version: NODE_VERSION, renewalMs: LEASE_RENEWAL_MS },
    client: clientFor(directFor, SIMULATED_NODES),
    clientOf: (node) => clientFor(directFor, nodeUser(node)),
  });
  server.reachNodesBy(simulatedConnection(nodes));
  return () => nodes.stop();
}

function simulatedConnection(nodes: SimulatedNodes) {
  return {
    ...unreachable((node) => `node "${node}" is simulated: it runs no processes to connect to`),
    logs: (request: Parameters<SimulatedNodes['logs']>[0]) => nodes.logs(request),
    usage: async (node: string) => nodes.usage(node),
  };
}

function clientFor(directFor: ComponentOptions['directFor'], user: User): Client {
  return createClient(directTransport(directFor(user)));
}
