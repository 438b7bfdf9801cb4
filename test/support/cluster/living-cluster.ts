/** A cluster with all admission and a namespace `x`, whose pods run as soon as they are created, without nodes. */
import { Namespace } from '../../../src/kinds/groups/core/namespace.ts';
import { admissionPlugins } from '../../../src/server/operations/admission/all.ts';
import { bringPodsToLife } from '../pod-life.ts';
import { type Cluster, startCluster } from './cluster.ts';

export interface LivingCluster extends Cluster {
  /** Reports whether a new pod becomes ready; a test may replace it. By default all do. */
  becomesReady: (pod: any) => boolean;
}

export async function startLivingCluster(): Promise<LivingCluster> {
  const cluster = await startCluster({ admission: admissionPlugins() });
  const { client, clock } = cluster;
  await client.of(Namespace).create({ metadata: { name: 'x' } });
  const end = new AbortController();
  const living: LivingCluster = {
    ...cluster,
    becomesReady: () => true,
    async stop() {
      end.abort();
      await life;
      await cluster.stop();
    },
  };
  const life = bringPodsToLife(client, { signal: end.signal, clock, becomesReady: (pod) => living.becomesReady(pod) });
  return living;
}
