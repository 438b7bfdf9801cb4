/** Lets the faults happen that the Fault objects of a cluster describe. */
import { createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { Fault } from '../../kinds/groups/testing/fault.ts';
import type { Server } from '../../server/index.ts';
import { SERVER_USER } from '../../server/objects/server-user.ts';
import { ruleOfSpec } from '../../server/serving/faults/fault.ts';
import type { ActiveFault, FaultInjector } from '../../server/serving/faults/fault-injector.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';

export function followFaults(
  { cleanup, clock, random, log }: Tools & { readonly cleanup: Cleanup },
  server: Pick<Server, 'direct'>,
  injector: FaultInjector,
): void {
  const stop = new AbortController();
  const client = createClient(directTransport(server.direct(SERVER_USER)));
  const informers = new InformerFactory({ client, clock, random, log, signal: stop.signal });
  const active = new Map<string, ActiveFault>();
  informers.of(Fault).onChange(({ type, object }) => {
    const name = object.metadata.name ?? '';
    active.get(name)?.remove();
    active.delete(name);
    if (type !== 'delete') active.set(name, injector.add(ruleOfSpec((object as Fault).spec ?? {})));
  });
  cleanup.add(async () => {
    stop.abort();
    await informers.stopped();
  });
}
