/** A cluster with all admission and a namespace `x`, whose pods run as soon as they are there, though it has no nodes. */
import { Namespace } from '../../../src/kinds/groups/core/namespace.ts';
import { admissionPlugins } from '../../../src/server/admission/all.ts';
import { bringPodsToLife } from '../pod-life.ts';
import { type Cluster, startCluster } from './cluster.ts';

export interface LivingCluster extends Cluster {
  /** Which pods become ready when they come; a test may change its mind. At first all. */
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
