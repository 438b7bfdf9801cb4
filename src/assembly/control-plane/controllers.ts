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

interface ControllerProcessOptions extends ProcessOptions {
  readonly metrics?: QueueMetrics | undefined;
  /** Runs wherever, and as long as, the controllers do. */
  readonly beside?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** The lease of the controllers in kube-system. */
export const CONTROLLERS_LEASE = 'kube-controller-manager';

/** Starts the controllers and returns what stops them, which resolves when the last one has stopped. */
export function startControllers(
  controllers: readonly Controller[],
  server: ComponentCalls,
  { isShared, metrics, beside, ...tools }: ControllerProcessOptions,
): () => Promise<void> {
  const user = controllerUser(CONTROLLER_MANAGER);
  const identity = { lease: CONTROLLERS_LEASE, user, isShared };
  return runComponent(server, { ...tools, ...identity }, async ({ signal, clientOf }) => {
    const informers = new InformerFactory({ ...tools, client: clientOf(user), signal });
    const clientFor = (account: string) => clientOf(controllerUser(account));
    const running = runControllers(controllers, { ...tools, metrics, clientOf: clientFor, signal, informers });
    await Promise.all([running, beside?.(signal)]);
    await informers.stopped();
  });
}
