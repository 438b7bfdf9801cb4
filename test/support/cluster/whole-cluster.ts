/** A complete cluster: all admission, the controllers, the scheduler, and simulated nodes. */
import { startSimulation } from '../../../src/assembly/cluster-nodes/simulated-nodes.ts';
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { NO_RULES } from '../../../src/node/simulated/rules/read-rules.ts';
import { admissionPlugins } from '../../../src/server/operations/admission/all.ts';
import { SIMULATION } from '../../../src/testing/cluster/simulation.ts';
import { type Cluster, startCluster } from './cluster.ts';

export async function startWholeCluster(names: readonly string[]): Promise<Cluster> {
  const cluster = await startCluster({ admission: admissionPlugins(), schedules: true });
  const { clock, directFor, nodes, cleanup } = cluster;
  await startSimulation({
    ...{ server: { direct: directFor }, nodes, cleanup, clock, random: systemRandom, log: silent },
    ...{ ...SIMULATION, names, rules: NO_RULES },
  });
  return cluster;
}
