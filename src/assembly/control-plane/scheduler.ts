/** Runs the scheduler in this process: its client calls the server directly. */
import { hostname } from 'node:os';
import { createClient } from '../../client/client.ts';
import { SCHEDULER } from '../../client/component-users.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { runWhileLeader } from '../../client/leader-election.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import type { SchedulerMetrics } from '../../scheduler/metrics.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import type { Server } from '../../server/index.ts';
import type { ProcessOptions } from './controllers.ts';

const NAME = 'default-scheduler';

export class LocalScheduler {
  #leading: Scheduler | undefined;

  /** Explains the scheduling of a pod; undefined when the scheduler does not run here, or does not know the pod yet. */
  readonly explainPod = (namespace: string, name: string): object | undefined =>
    this.#leading?.explain(namespace, name);

  /** Starts the scheduler and returns what stops it, which resolves when bindings in progress are done. */
  start(
    server: Pick<Server, 'direct'>,
    { isShared, metrics, ...tools }: ProcessOptions & { readonly metrics?: SchedulerMetrics | undefined },
  ): () => Promise<void> {
    const stop = new AbortController();
    const client = createClient(directTransport(server.direct(SCHEDULER)));
    const lead = async (signal: AbortSignal) => {
      const common = { ...tools, client, signal };
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
    };
    const lease = { name: 'kube-scheduler', namespace: 'kube-system' };
    const identity = () => `${hostname()}_${tools.random.uuid()}`;
    const { signal } = stop;
    const running = isShared
      ? runWhileLeader({ ...tools, ...lease, client, signal, identity: identity() }, lead)
      : lead(signal);
    running.catch((error: unknown) => tools.log.error('the scheduler stopped with an error', { error }));
    return async () => {
      stop.abort();
      await running;
    };
  }
}
