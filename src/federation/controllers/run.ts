/** Runs all controllers of the federation. */
import { setMaxListeners } from 'node:events';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { federationKinds } from '../kinds.ts';
import type { FederatedKind } from '../plan/kinds/federated-kind.ts';
import { federatedKinds } from '../plan/kinds/federated-kinds.ts';
import { Members, type MembersOptions } from './members.ts';
import { NamedKinds } from './named-kinds.ts';
import { runNamespaceContents } from './namespace-contents.ts';
import { type DnsPublication, ServiceDns } from './service-dns/service-dns.ts';
import { Sync } from './sync.ts';

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
  const informers = new InformerFactory({
    client,
    clock,
    random,
    log,
    signal,
    watchSeconds,
  });
  const recorder = createEventRecorder({
    client,
    clock,
    random,
    log,
    signal,
    component: 'federation-controller-manager',
  });
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
