import { isLostRace } from '../../api/errors.ts';
import { eachTurn } from '../../base/event-loop/turn-budget.ts';
import { ReconcileLoop, type ReconcileLoopOptions } from '../../base/reconcile/reconcile-loop.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { ChangeRecord } from '../objects/cache/history/change-record.ts';
import type { Reader, Tools } from '../objects/ports.ts';

export type UpkeepPorts = Pick<Reader, 'cache'> & Tools;

type UpkeepOptions = Pick<ReconcileLoopOptions, 'reconcile' | 'failure' | 'isExpected' | 'workers' | 'backoff'>;

/** A reconcile loop of the server, until it is closed. Own writes are in the cache when they are answered. */
export class Upkeep {
  readonly loop: ReconcileLoop;
  readonly #cache: Reader['cache'];
  readonly #stop = new AbortController();
  readonly #unfollow: (() => void)[] = [];

  constructor({ cache, clock, random, log }: UpkeepPorts, options: UpkeepOptions) {
    this.#cache = cache;
    // Not in the turn of the request that made a change.
    this.loop = new ReconcileLoop({ clock, random, log, turns: eachTurn, isExpected: isLostRace, ...options });
    void this.loop.run(this.#stop.signal);
  }

  get isRunning(): boolean {
    return !this.#stop.signal.aborted;
  }

  /** Calls the listener for every change of these kinds, until the loop is closed. */
  follow(kinds: readonly Kind[], listener: (record: ChangeRecord) => void): void {
    for (const kind of kinds) {
      const { listeners } = this.#cache.table(kind);
      listeners.add(listener);
      this.atClose(() => listeners.delete(listener));
    }
  }

  atClose(task: () => void): void {
    this.#unfollow.push(task);
  }

  close(): void {
    this.#stop.abort();
    for (const unfollow of this.#unfollow.splice(0)) unfollow();
  }
}
