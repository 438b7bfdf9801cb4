/** Copies a store into another one while the original is written to. Only the end needs a pause in writes. */
import type { Clock } from '../../base/time/clock.ts';
import type { CopyBase, HistoryStep, StoreCopy } from '../driver.ts';
import { type Store, StoreCompacted } from '../store.ts';
import { checkCopy, checkKeys } from './compare.ts';
import { readHistory } from './history.ts';

export interface CopyOptions {
  readonly original: Store;
  /** Begins the copy. */
  begin(base: CopyBase): Promise<StoreCopy>;
  /** Called once, when the copy is nearly level. Resolves when nobody writes to the original any more. */
  pause(): Promise<void>;
  /**
   * Called when writes come faster than they can be copied. Each write should wait for what the function returns, but not for long;
   * undefined: it need not.
   */
  holdBack?(wait: () => Promise<void> | undefined): void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface CopiedStore {
  /** The copy, open. */
  readonly store: Store;
  /** The newest revision of the original, which the copy has as well. */
  readonly revision: number;
  /** Number of rows. */
  readonly count: number;
}

/** A copy that is this far behind is level after the pause, within about this time. */
const MAX_BEHIND_MS = 1_000;
/** How long the copy may stay behind, with writes that are held back. */
const MAX_CATCH_UP_MS = 120_000;
/** Revisions that the copy may be behind while writes are held back: fewer each time that it does not catch up. */
const BEHIND = { first: 128, last: 4 };
/** Changed rows whose comparison takes no noticeable time. */
const MAX_UNCHECKED = 200;
const MAX_ROUNDS = 5;
/** Attempts to compare a state of the original, whose history may be discarded meanwhile. */
const MAX_ATTEMPTS = 3;

/** Resolves with the copy when it is complete, and the same as the original. After a failure, there is nothing that could be opened. */
export async function copyStore(options: CopyOptions): Promise<CopiedStore> {
  const { original, signal } = options;
  let end!: (revision: number) => void;
  const through = new Promise<number>((resolve) => {
    end = resolve;
  });
  const stopping = new AbortController();
  const stop = AbortSignal.any([signal, stopping.signal]);
  const history = await readHistory(original, through, stop);
  const copy = await options.begin(history);
  const follower = new Follower(history.oldest, copy);
  const following = follower.run(history.steps);
  following.catch(() => undefined); // Awaited below, and by those who wait for a revision.
  try {
    await catchUp(follower, options);
    const count = await compareAll(follower, original, copy);
    await compareChanged(follower, copy, options);
    await catchUp(follower, options);
    await options.pause();
    const revision = await original.revision();
    end(revision);
    await following;
    await checkKeys(original, await copy.flush(), { keys: follower.takeChanged(), revision });
    stop.throwIfAborted();
    return { store: await copy.complete(), revision, count };
  } catch (error) {
    stopping.abort(error);
    await following.catch(() => undefined);
    await copy.abandon();
    throw error;
  }
}

/** Resolves when the copy follows closely. Rejects when it cannot. */
async function catchUp(follower: Follower, { original, clock, holdBack }: CopyOptions): Promise<void> {
  const deadline = clock.now() + MAX_CATCH_UP_MS;
  let goal = await original.revision();
  await follower.reached(goal);
  for (let limit = BEHIND.first; ; limit = Math.max(limit / 2, BEHIND.last)) {
    const began = clock.now();
    goal = await original.revision();
    await follower.reached(goal);
    if (clock.now() - began <= MAX_BEHIND_MS) return;
    holdBack?.(() => behind(follower, original, limit));
    if (clock.now() < deadline) continue;
    throw new Error(
      'the copy does not catch up: objects are written faster than they can be copied; try again when there are fewer writes',
    );
  }
}

/** A store whose revision must be asked for holds nobody back: it is as fast as a copy at least. */
function behind(follower: Follower, original: Store, limit: number): Promise<void> | undefined {
  const newest = original.revision();
  if (typeof newest !== 'number' || newest - follower.revision <= limit) return undefined;
  return follower.reached(newest - limit);
}

/** Compares one whole state. Resolves with the number of its rows. */
async function compareAll(follower: Follower, original: Store, copy: StoreCopy): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    follower.takeChanged();
    const { revision } = follower;
    try {
      return await checkCopy(original, await copy.flush(), revision);
    } catch (error) {
      if (!(error instanceof StoreCompacted) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** Compares what has changed since, until that is little. */
async function compareChanged(follower: Follower, copy: StoreCopy, { original }: CopyOptions): Promise<void> {
  for (let round = 1; round <= MAX_ROUNDS && follower.changed > MAX_UNCHECKED; round++) {
    const keys = follower.takeChanged();
    await checkKeys(original, await copy.flush(), { keys, revision: follower.revision });
  }
}

/** Adds changes of the original to the copy, as they come. */
class Follower {
  readonly #copy: StoreCopy;
  #revision: number;
  #changed = new Set<string>();
  #waiters: { readonly revision: number; resolve(): void; reject(error: unknown): void }[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(revision: number, copy: StoreCopy) {
    this.#revision = revision;
    this.#copy = copy;
  }

  /** Everything up to this revision was added. */
  get revision(): number {
    return this.#revision;
  }

  /** Number of keys that were changed since the last `takeChanged`. */
  get changed(): number {
    return this.#changed.size;
  }

  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  async run(steps: AsyncIterable<HistoryStep>): Promise<void> {
    try {
      for await (const step of steps) {
        await this.#copy.add(step);
        for (const { key } of step.changes) this.#changed.add(key);
        this.#revision = step.revision;
        this.#settle();
      }
    } catch (error) {
      this.#failure = { error };
      this.#settle();
      throw error;
    }
  }

  /** Rejects when the copy fails. */
  reached(revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ revision, resolve, reject });
      this.#settle();
    });
  }

  #settle(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.revision <= this.#revision) waiter.resolve();
      else if (this.#failure) waiter.reject(this.#failure.error);
      else this.#waiters.push(waiter);
    }
  }
}
