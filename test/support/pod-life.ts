/** Runs pods as soon as they exist, without a node: tests need this to see rollouts end. */

import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import type { Client } from '../../src/client/client.ts';
import { InformerFactory } from '../../src/client/informer/informer-factory.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';

export interface PodLifeOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Reports whether a pod becomes ready. Default: all do. */
  readonly becomesReady?: (pod: any) => boolean;
}

/** Follows all pods until the signal is aborted. */
export async function bringPodsToLife(client: Client, options: PodLifeOptions): Promise<void> {
  const { clock, signal, becomesReady = () => true } = options;
  const informers = new InformerFactory({ client, clock, random: systemRandom, log: silent, signal });
  const writes = new Set<Promise<void>>();
  informers.of(Pod).onChange(({ type, object }) => {
    if (type !== 'add' || object.metadata.deletionTimestamp || object.status.phase === 'Running') return;
    if (!becomesReady(object)) return;
    const write = makeReady(client, object, clock.now()).finally(() => writes.delete(write));
    writes.add(write);
  });
  await informers.stopped();
  await Promise.all(writes);
}

/** Says that the pod runs and is ready; that it is gone meanwhile is nothing. */
export async function makeReady(client: Client, pod: any, now: number): Promise<void> {
  const { name, namespace } = pod.metadata;
  const lastTransitionTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  const changes = { status: { phase: 'Running', conditions } };
  await client
    .of(Pod)
    .in(namespace)
    .patchStatus(name, { type: 'strategic', changes })
    .catch(() => undefined);
}
