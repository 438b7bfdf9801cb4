/** Pods that run as soon as they are there, where no node makes them: what a test needs to see rollouts end. */
import type { Client } from '../../src/client/client.ts';
import { Pod } from '../../src/kinds/core/pod.ts';

export interface PodLifeOptions {
  readonly signal: AbortSignal;
  /** Written as the time since when a pod is ready. */
  readonly now: () => number;
  /** Which pods become ready. Default: all. */
  readonly becomesReady?: (pod: any) => boolean;
}

/** Follows all pods until the signal is aborted. */
export async function bringPodsToLife(client: Client, options: PodLifeOptions): Promise<void> {
  const { signal, now, becomesReady = () => true } = options;
  try {
    const { items, metadata } = await client.of(Pod).listAll({ signal });
    const make = async (pod: any) => {
      if (pod.metadata.deletionTimestamp || pod.status?.phase === 'Running' || !becomesReady(pod)) return;
      await makeReady(client, pod, now());
    };
    for (const pod of items) await make(pod);
    const watch = await client.of(Pod).watch({ resourceVersion: metadata.resourceVersion, signal });
    for await (const events of watch.batches()) {
      await Promise.all(events.filter(({ type }) => type === 'ADDED').map(({ object }) => make(object)));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
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
