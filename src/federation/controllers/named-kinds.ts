/** Propagates the kinds that FederatedTypes name, for as long as these exist. */

import { setMaxListeners } from 'node:events';
import { whenAborted } from '../../base/event-loop/when-aborted.ts';
import { FederatedType } from '../../kinds/groups/federation/federated-type.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { FederatedKind } from '../plan/kinds/federated-kind.ts';
import { namedKind } from '../plan/kinds/named-kind.ts';
import type { Members } from './members.ts';
import type { FederationTools } from './tools.ts';

export interface NamedKindsOptions extends Pick<FederationTools, 'informers' | 'log' | 'signal'> {
  readonly members: Members;
  readonly propagate: (kind: FederatedKind, signal: AbortSignal) => Promise<void>;
}

interface Running {
  readonly kind: Kind;
  readonly definition: string;
  stop(): Promise<void>;
}

export class NamedKinds {
  readonly #running = new Map<string, Running>();

  constructor(private readonly options: NamedKindsOptions) {}

  /** The kinds that are propagated now. */
  get kinds(): readonly Kind[] {
    return [...this.#running.values()].map(({ kind }) => kind);
  }

  /** Runs until the signal is aborted. */
  async run(): Promise<void> {
    const { informers, signal } = this.options;
    const types = informers.of<FederatedType>(FederatedType);
    types.onChange(({ type, object }) => this.#follow(object as FederatedType, type === 'delete'));
    await whenAborted(signal);
    await Promise.all([...this.#running.values()].map((running) => running.stop()));
  }

  #follow(type: FederatedType, isGone: boolean): void {
    const { log, signal } = this.options;
    const name = type.metadata.name ?? '';
    const known = this.#running.get(name);
    const definition = JSON.stringify(type.spec);
    if (signal.aborted || (known && !isGone && known.definition === definition)) return;
    this.#running.delete(name);
    const stopped = known?.stop();
    if (isGone || type.metadata.deletionTimestamp) return;
    try {
      this.#running.set(name, this.#start(namedKind(type), definition, stopped));
    } catch (error) {
      // The API server reports it in the status of the object.
      log.info('a kind cannot be federated', { name, error });
    }
  }

  #start(kind: FederatedKind, definition: string, before: Promise<void> | undefined): Running {
    const { propagate, informers, members, signal } = this.options;
    const end = new AbortController();
    const until = AbortSignal.any([signal, end.signal]);
    // Every request and wait listens to it; Node warns about more than ten listeners.
    setMaxListeners(0, until);
    const ended = (async () => {
      await before;
      await propagate(kind, until);
    })();
    return {
      kind: kind.kind,
      definition,
      async stop() {
        end.abort();
        await ended;
        await Promise.all([informers.stop(kind.kind), ...members.all.map((member) => member.forget(kind.kind))]);
      },
    };
  }
}
