/** Runs controllers in this process: each calls the server directly, as its own service account. */
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { CONTROLLER_MANAGER, controllerUser } from '../../client/component-users.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { Controller } from '../../controllers/loop/define.ts';
import { runControllers } from '../../controllers/loop/loop.ts';
import type { QueueMetrics } from '../../controllers/loop/queue-metrics.ts';
import type { Tools } from '../context.ts';
import { type ComponentCalls, runComponent } from './run-component.ts';

export interface ProcessOptions extends Tools {
  readonly monitor?: WorkMonitor | undefined;
  /** True when other servers run the same components on the same store: then they elect a leader. */
  readonly isShared?: boolean;
}

/** Starts the controllers and returns what stops them, which resolves when the last one has stopped. */
export function startControllers(
  controllers: readonly Controller[],
  server: ComponentCalls,
  { isShared, metrics, ...tools }: ProcessOptions & { readonly metrics?: QueueMetrics | undefined },
): () => Promise<void> {
  const user = controllerUser(CONTROLLER_MANAGER);
  const identity = { lease: 'kube-controller-manager', user, isShared };
  return runComponent(server, { ...tools, ...identity }, async ({ signal, clientOf }) => {
    const informers = new InformerFactory({ ...tools, client: clientOf(user), signal });
    const clientFor = (account: string) => clientOf(controllerUser(account));
    await runControllers(controllers, { ...tools, metrics, clientOf: clientFor, signal, informers });
    await informers.stopped();
  });
}
