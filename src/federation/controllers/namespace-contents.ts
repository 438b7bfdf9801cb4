/** Empties namespaces of the federation that are being deleted, and lets them go when nothing is left in them. */
import { isLostRace } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import type { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import type { Kind } from '../../kinds/kind.ts';
import { ORPHAN } from '../plan/names.ts';

export interface NamespaceContentsOptions {
  readonly client: Client;
  readonly informers: InformerFactory;
  /** The kinds that the federation serves now. */
  readonly kinds: () => readonly Kind[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Delay before checking again a namespace whose objects are still being deleted. */
const LOOK_AGAIN_MS = 200;

/** Runs until the signal is aborted. */
export async function runNamespaceContents(options: NamespaceContentsOptions) {
  const { client, informers, clock, random, log, signal } = options;
  const namespaces = informers.of<Namespace>(Namespace);
  const loop = new ReconcileLoop({
    clock,
    random,
    log,
    workers: 2,
    failure: 'a namespace could not be emptied',
    isExpected: isLostRace,
    reconcile: async (name) => {
      const namespace = namespaces.lister.get(name);
      if (!namespace?.metadata.deletionTimestamp) return;
      if (await emptied(options, namespace)) await finalize(client, namespace, signal);
      else loop.addAfter(name, LOOK_AGAIN_MS);
    },
  });
  namespaces.onChange(({ type, object }) => {
    if (type !== 'delete' && object.metadata.deletionTimestamp) loop.add(object.metadata.name ?? '');
  });
  await loop.run(signal);
}

/** Deletes everything in the namespace, in the members, too, unless the namespace is orphaned; returns whether it is empty. */
async function emptied(
  { client, kinds, signal }: NamespaceContentsOptions,
  { metadata }: DeepReadonly<Namespace>,
): Promise<boolean> {
  const propagationPolicy = metadata.finalizers?.includes(ORPHAN) ? 'Orphan' : 'Background';
  const left = await Promise.all(
    kinds()
      .filter(({ scope }) => scope === 'Namespaced')
      .map(async (kind) => {
        const resource = client.of(kind).in(metadata.name);
        const { items } = await resource.list({ limit: 1, signal });
        if (items.length > 0) await resource.deleteCollection({ propagationPolicy, signal });
        return items.length;
      }),
  );
  return left.every((count) => count === 0);
}

async function finalize(client: Client, namespace: DeepReadonly<Namespace>, signal: AbortSignal): Promise<void> {
  const finalizers = namespace.spec?.finalizers?.filter((each) => each !== 'kubernetes') ?? [];
  if (finalizers.length === namespace.spec?.finalizers?.length) return;
  const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
  await client
    .of(Namespace)
    .subresource(namespace.metadata.name ?? '', 'finalize')
    .update(body, { signal });
}
