/** A complete cluster: all admission, the controllers, the scheduler, and simulated nodes. */
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { NO_RULES } from '../../../src/node/simulated/rules/read-rules.ts';
import { admissionPlugins } from '../../../src/server/operations/admission/all.ts';
import { startNodes, startScheduler } from '../../../src/testing/cluster/components.ts';
import { type Cluster, startCluster } from './cluster.ts';

export async function startWholeCluster(names: readonly string[]): Promise<Cluster> {
  const cluster = await startCluster({ admission: admissionPlugins() });
  const { server, clock, directFor } = cluster;
  const component = { server, clock, directFor, random: systemRandom, log: silent };
  const stopScheduler = startScheduler(component);
  const stopNodes = await startNodes(component, { names, rules: NO_RULES });
  return {
    ...cluster,
    async stop() {
      await Promise.all([stopScheduler(), stopNodes()]);
      await cluster.stop();
    },
  };
}
