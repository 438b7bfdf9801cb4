/** Runs the scheduler in this process: its client calls the server directly. */
import { SCHEDULER } from '../../client/component-users.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { SchedulerMetrics } from '../../scheduler/metrics.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import type { ProcessOptions } from './controllers.ts';
import { type ComponentCalls, runComponent } from './run-component.ts';

const NAME = 'default-scheduler';
/** The lease of the scheduler in kube-system. */
export const SCHEDULER_LEASE = 'kube-scheduler';

export class LocalScheduler {
  #leading: Scheduler | undefined;

  /** Explains the scheduling of a pod; undefined when the scheduler does not run here, or does not know the pod yet. */
  readonly explainPod = (namespace: string, name: string): object | undefined =>
    this.#leading?.explain(namespace, name);

  /** Starts the scheduler and returns what stops it, which resolves when bindings in progress are done. */
  start(
    server: ComponentCalls,
    { isShared, metrics, ...tools }: ProcessOptions & { readonly metrics?: SchedulerMetrics | undefined },
  ): () => Promise<void> {
    const identity = { lease: SCHEDULER_LEASE, user: SCHEDULER, isShared };
    return runComponent(server, { ...tools, ...identity }, async ({ signal, clientOf }) => {
      const common = { ...tools, client: clientOf(SCHEDULER), signal };
      const informers = new InformerFactory(common);
      const recorder = createEventRecorder({ ...common, component: NAME });
      const scheduler = new Scheduler({ ...common, metrics, informers, recorder, name: NAME });
      this.#leading = scheduler;
      try {
        await scheduler.run();
        await informers.stopped();
      } finally {
        this.#leading = undefined;
      }
    });
  }
}
