/** Serves the kinds that FederatedTypes name, for as long as these exist, and says in their status whether it does. */
import { isLostRace } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { rejectsOn } from '../../base/event-loop/rejects-on.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import type { Tools } from '../../base/tools.ts';
import { createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { namedKind } from '../../federation/plan/kinds/named-kind.ts';
import { FederatedType } from '../../kinds/groups/federation/federated-type.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Server } from '../../server/index.ts';

interface NamedKindsOptions extends Tools {
  readonly server: Pick<Server, 'direct' | 'registry'>;
  readonly signal: AbortSignal;
}

const USER = { name: 'system:federation-apiserver', groups: ['system:masters'] };

interface ServingState {
  readonly isServed: boolean;
  readonly message: string;
}

/** Resolves when the kinds that are named now are served; rejects when it is told to stop before. */
export async function serveNamedKinds({ server, clock, random, log, signal }: NamedKindsOptions): Promise<void> {
  const client = createClient(directTransport(server.direct(USER)));
  const informers = new InformerFactory({ client, clock, random, log, signal });
  const served = new Map<string, { readonly kind: Kind; readonly definition: string }>();

  function follow(type: DeepReadonly<FederatedType>, isGone: boolean): ServingState | undefined {
    const name = type.metadata.name ?? '';
    const known = served.get(name);
    const definition = JSON.stringify(type.spec);
    if (known && !isGone && known.definition === definition) return { isServed: true, message: servedAs(known.kind) };
    if (known) {
      served.delete(name);
      server.registry.remove(known.kind);
    }
    if (isGone) return undefined;
    try {
      const { kind } = namedKind(type);
      server.registry.add(kind);
      served.set(name, { kind, definition });
      return { isServed: true, message: servedAs(kind) };
    } catch (error) {
      return { isServed: false, message: (error as Error).message };
    }
  }

  async function report(type: DeepReadonly<FederatedType>, { isServed, message }: ServingState): Promise<void> {
    const [old] = type.status.conditions ?? [];
    const [status, reason] = isServed ? ['True', 'KindServed'] : ['False', 'KindNotServed'];
    if (old?.status === status && old.message === message) return;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(clock.now());
    const conditions = [{ type: 'Served', status, reason, message, lastTransitionTime }];
    const changes = { status: { conditions } };
    await client.of(FederatedType).patchStatus(type.metadata.name ?? '', { type: 'merge', changes }, { signal });
  }

  const types = informers.of<FederatedType>(FederatedType);
  const states = new Map<string, ServingState>();
  const loop = new ReconcileLoop({
    clock,
    random,
    log,
    isExpected: isLostRace,
    failure: 'the status of a federated type could not be written',
    reconcile: async (name) => {
      const [type, state] = [types.lister.get(name), states.get(name)];
      if (type && state) await report(type, state);
    },
  });
  // Kinds come and go at once; only their status may fail.
  types.onChange(({ type, object }) => {
    const { name = '' } = object.metadata;
    const state = follow(object, type === 'delete');
    if (state) states.set(name, state);
    else states.delete(name);
    loop.add(name);
  });
  void loop.run(signal);
  await Promise.race([types.synced, rejectsOn(signal)]);
}

const servedAs = ({ hub, kind, plural }: Kind) => `served as ${kind}, ${plural} of ${hub.apiVersion}`;
