/** A complete cluster: all admission, the controllers, the scheduler, and simulated nodes. */
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { nodeUser, SCHEDULER, SIMULATED_NODES } from '../../../src/client/component-users.ts';
import { createEventRecorder } from '../../../src/client/events/event-recorder.ts';
import { InformerFactory } from '../../../src/client/informer/informer-factory.ts';
import { NO_RULES } from '../../../src/node/simulated/rules/read-rules.ts';
import { startSimulatedNodes } from '../../../src/node/simulated/simulated.ts';
import { Scheduler } from '../../../src/scheduler/scheduler.ts';
import { admissionPlugins } from '../../../src/server/admission/all.ts';
import { type Cluster, startCluster } from './cluster.ts';

export async function startWholeCluster(names: readonly string[]): Promise<Cluster> {
  const cluster = await startCluster({ admission: admissionPlugins() });
  const { clientFor, clock } = cluster;
  const end = new AbortController();
  const client = clientFor(SCHEDULER);
  const common = { client, clock, random: systemRandom, log: silent, signal: end.signal };
  const informers = new InformerFactory(common);
  const recorder = createEventRecorder({ ...common, component: 'default-scheduler' });
  const scheduling = new Scheduler({ ...common, informers, recorder }).run();
  const nodes = await startSimulatedNodes({
    ...{ client: clientFor(SIMULATED_NODES), clientOf: (node) => clientFor(nodeUser(node)) },
    ...{ clock, random: systemRandom, log: silent },
    ...{ names, clusterCidr: '10.244.0.0/16', version: 'v1.36.4', rules: NO_RULES },
  });
  return {
    ...cluster,
    async stop() {
      end.abort();
      await Promise.all([scheduling, informers.stopped(), nodes.stop()]);
      await cluster.stop();
    },
  };
}
