/** Runs all controllers of the federation. */

import { setMaxListeners } from 'node:events';
import { isLostRace } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import type { Kind } from '../../kinds/kind.ts';
import { federationKinds } from '../kinds.ts';
import type { FederatedKind } from '../plan/kinds/federated-kind.ts';
import { federatedKinds } from '../plan/kinds/federated-kinds.ts';
import { ORPHAN } from '../plan/names.ts';
import { Members, type MembersOptions } from './members.ts';
import { NamedKinds } from './named-kinds.ts';
import { type DnsPublication, ServiceDns } from './service-dns/service-dns.ts';
import { Sync } from './sync.ts';
import type { FederationTools } from './tools.ts';

export interface FederationOptions extends Omit<MembersOptions, 'informers'> {
  /** Time that pods wait for a node before their replicas go to other clusters. */
  readonly unschedulableAfterMs: number;
  /** Selects the built-in federated kinds to propagate; absent: all. */
  readonly propagates?: (federated: Pick<FederatedKind, 'kind'>) => boolean;
  /** DNS publication; undefined when names of services are not published. */
  readonly dns?: DnsPublication;
}

/** Runs until the signal is aborted; resolves when the last action has ended. */
export async function runFederation(options: FederationOptions): Promise<void> {
  const { client, clock, random, log, signal, watchSeconds, propagates = () => true } = options;
  // Every request and wait listens to it; Node warns about more than ten listeners.
  setMaxListeners(0, signal);
  const base = { client, clock, random, log, signal };
  const informers = new InformerFactory({ ...base, watchSeconds });
  const recorder = createEventRecorder({ ...base, component: 'federation-controller-manager' });
  const members = new Members({ ...options, informers });
  await members.start();
  const common = { client, informers, log, signal };
  const propagate = (kind: FederatedKind, until: AbortSignal) =>
    new Sync({ ...options, ...common, kind, members, recorder, signal: until }).run();
  const named = new NamedKinds({ ...common, members, propagate });
  const kinds = () => [...federationKinds, ...named.kinds];
  await Promise.all([
    ...federatedKinds.filter(propagates).map((kind) => propagate(kind, signal)),
    named.run(),
    ...(options.dns ? [new ServiceDns({ ...options, ...common, dns: options.dns, members, recorder }).run()] : []),
    runNamespaceContents({ ...options, ...common, kinds }),
  ]);
  await Promise.all([members.stopped(), informers.stopped(), recorder.flushed()]);
}

interface NamespaceContentsOptions extends FederationTools {
  /** The kinds that the federation serves now. */
  readonly kinds: () => readonly Kind[];
}

/** Delay before checking again a namespace whose objects are still being deleted. */
const LOOK_AGAIN_MS = 200;

/** Runs until the signal is aborted. */
async function runNamespaceContents(options: NamespaceContentsOptions) {
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
