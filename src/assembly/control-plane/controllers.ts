/** Runs controllers in this process: each calls the server directly, as its own service account. */
import { hostname } from 'node:os';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { createClient } from '../../client/client.ts';
import { CONTROLLER_MANAGER, controllerUser } from '../../client/component-users.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { runWhileLeader } from '../../client/leader-election.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { forwardedTransport } from '../../client/transport/forwarded-transport.ts';
import type { Controller } from '../../controllers/loop/define.ts';
import { runControllers } from '../../controllers/loop/loop.ts';
import type { QueueMetrics } from '../../controllers/loop/queue-metrics.ts';
import type { Server } from '../../server/index.ts';
import type { Tools } from '../context.ts';

export interface ProcessOptions extends Tools {
  readonly monitor?: WorkMonitor | undefined;
  /** True when other servers run the same components on the same store: then they elect a leader. */
  readonly isShared?: boolean;
}

/** Starts the controllers and returns what stops them, which resolves when the last one has stopped. */
export function startControllers(
  controllers: readonly Controller[],
  server: Pick<Server, 'direct' | 'forward'>,
  { isShared, metrics, ...tools }: ProcessOptions & { readonly metrics?: QueueMetrics | undefined },
): () => Promise<void> {
  const stop = new AbortController();
  const clientOf = (account: string) => {
    const user = controllerUser(account);
    return createClient(directTransport(server.direct(user)), forwardedTransport(server.forward(user), tools));
  };
  const client = clientOf(CONTROLLER_MANAGER);
  const lead = async (signal: AbortSignal) => {
    const informers = new InformerFactory({ ...tools, client, signal });
    await runControllers(controllers, { ...tools, metrics, clientOf, signal, informers });
    await informers.stopped();
  };
  const lease = { name: 'kube-controller-manager', namespace: 'kube-system' };
  const identity = () => `${hostname()}_${tools.random.uuid()}`;
  const { signal } = stop;
  const running = isShared
    ? runWhileLeader({ ...tools, ...lease, client, signal, identity: identity() }, lead)
    : lead(signal);
  running.catch((error: unknown) => tools.log.error('the controllers stopped with an error', { error }));
  return async () => {
    stop.abort();
    await running;
  };
}
