/** Shares informers: one for each kind and selection, started on first use. */
import { setMaxListeners } from 'node:events';
import type { KindRef } from '../../api/object-types.ts';
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { extended } from '../../base/json/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ClientTools } from '../client.ts';
import type { CacheLimit } from './cache-limit.ts';
import { Informer } from './informer.ts';
import type { Source } from './reflector.ts';

export interface InformerSelection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface InformerFactoryOptions extends ClientTools {
  /** Stops all informers. */
  readonly signal: AbortSignal;
  /** Duration of watches in seconds, so that a dead connection is noticed. Leave it out for direct calls. */
  readonly watchSeconds?: number;
  /** Limits the total size of all informer caches. Default: no limit. */
  readonly limit?: CacheLimit;
}

interface Running {
  readonly informer: Informer<any>;
  readonly stop: () => void;
  readonly done: Promise<void>;
}

export class InformerFactory {
  readonly #running = new Map<string, Running>();
  readonly #budget: TurnBudget;

  constructor(private readonly options: InformerFactoryOptions) {
    this.#budget = new TurnBudget(options.clock);
    // Requests of other callers listen to the signal as well; Node warns about more than ten listeners.
    setMaxListeners(0, options.signal);
    const stopAll = () => {
      for (const { stop } of this.#running.values()) stop();
    };
    options.signal.addEventListener('abort', stopAll, { once: true });
  }

  of<T extends KubeObject>(kind: KindRef<T>, selection: InformerSelection = {}): Informer<T> {
    const key = keyOfSelection(kind, selection);
    const running = getOrInsert(this.#running, key, () => this.#start(kind, selection));
    return running.informer;
  }

  /** Stops all informers of a kind that is no longer served; the next use starts a new one. */
  async stop(kind: KindRef): Promise<void> {
    const prefix = keyOfKind(kind);
    const gone = [...this.#running].filter(([key]) => key.startsWith(prefix));
    for (const [key, { stop }] of gone) {
      this.#running.delete(key);
      stop();
    }
    await Promise.all(gone.map(([, { done }]) => done));
  }

  /** Resolves when all informers have stopped after the signal. */
  async stopped(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  #start<T extends KubeObject>(kind: KindRef<T>, selection: InformerSelection): Running {
    const { client, signal, clock, random, watchSeconds, limit } = this.options;
    const log = this.options.log.with({ kind: kind.kind, ...selection });
    const { namespace, ...selectors } = selection;
    const resource = client.of(kind).in(namespace);
    const own = new AbortController();
    const stop = () => own.abort(signal.reason);
    if (signal.aborted) stop();
    const informer = new Informer<T>(log, this.#budget);
    const all: Source<T> = {
      listAll: (options: object) => resource.listAll(extended(selectors, options)),
      watch: (options: object) => resource.watch(extended(selectors, options)),
    };
    const source = limit?.follow(informer, all, own.signal) ?? all;
    const done = informer.run(source, { clock, random, log, signal: own.signal, watchSeconds });
    return { informer, stop, done };
  }
}

const keyOfKind = ({ hub, plural }: KindRef) => `${hub.apiVersion}/${plural}\n`;

function keyOfSelection(kind: KindRef, { namespace, labelSelector, fieldSelector }: InformerSelection): string {
  return keyOfKind(kind) + JSON.stringify([namespace, labelSelector, fieldSelector]);
}
