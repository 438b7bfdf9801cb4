/** Moves the objects of a running cluster to another store. */
import type { Logger } from '../../../base/log.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { CopyBase, StoreCopy } from '../../../store/driver.ts';
import { type CopiedStore, copyStore } from '../../../store/migration/copy-store.ts';
import type { MovableStore } from '../../../store/migration/movable-store.ts';
import type { Store } from '../../../store/store.ts';
import { AssemblyError } from '../../assembly-error.ts';

export interface MoveOptions {
  readonly movable: MovableStore;
  /** Begins the copy. */
  begin(base: CopyBase): Promise<StoreCopy>;
  /** Rejects while other servers use the store: they would go on with it. Called before the copy, and in the pause. */
  checkAlone(): Promise<void>;
  /**
   * Puts the copy in charge: the next start uses it. Resolves with whether it is in charge now, which a failure need not have
   * prevented.
   */
  putInCharge(): Promise<boolean>;
  /** That of the machine. */
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the move, unless the copy is in charge already. */
  readonly signal: AbortSignal;
}

export interface Moved {
  readonly count: number;
  readonly revision: number;
  /** How long writes have waited. */
  readonly pausedMs: number;
  /** The store before, which nobody uses any more. */
  readonly former: Store;
}

/** The pause ends after this time, and the move with it, unless the copy is in charge by then. */
const MAX_PAUSE_MS = 5_000;

/** Resolves when the cluster uses the copy. After a failure, it uses the old store. */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const { movable, clock, log } = options;
  const former = movable.current;
  const tooLong = new AbortController();
  const signal = AbortSignal.any([options.signal, tooLong.signal]);
  let isDecided = false;
  // Afterwards, nothing can put the copy in charge.
  signal.addEventListener('abort', () => !isDecided && movable.resume(), { once: true });
  let timer: ReturnType<Clock['timer']> | undefined;
  let pausedAt = 0;
  const pause = async () => {
    await options.checkAlone();
    signal.throwIfAborted();
    pausedAt = clock.now();
    timer = clock.timer(MAX_PAUSE_MS, () => tooLong.abort(new AssemblyError(PAUSE_TOO_LONG)));
    await movable.pause();
    await options.checkAlone();
  };
  let copied: CopiedStore | undefined;
  try {
    await options.checkAlone();
    const holdBack = (wait: () => Promise<void> | undefined) => movable.holdBack(wait);
    copied = await copyStore({ original: former, begin: options.begin, pause, holdBack, clock, signal });
    signal.throwIfAborted();
    isDecided = true;
    if (!(await options.putInCharge())) throw new AssemblyError('the settings of the cluster could not be replaced');
  } catch (error) {
    movable.resume();
    await copied?.store.close();
    throw error;
  } finally {
    timer?.cancel();
  }
  movable.resume(copied.store);
  const pausedMs = clock.now() - pausedAt;
  const { compacted } = movable;
  if (compacted > 0) {
    await copied.store
      .compact(compacted)
      .catch((error) => log.warn('history was not discarded in the copy', { error }));
  }
  return { count: copied.count, revision: copied.revision, pausedMs, former };
}

const PAUSE_TOO_LONG = `writes would have waited for more than ${MAX_PAUSE_MS / 1_000} s; try again when there are fewer of them`;
