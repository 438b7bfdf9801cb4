import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Store } from '../../store/index.ts';

interface Watching {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const RETRY_MS = 5_000;

/** Calls `onChange` at once, and whenever a key of the store has changed, until the signal is aborted. */
export function watchKey(
  store: Pick<Store, 'revision' | 'watch'>,
  key: string,
  { clock, log, signal, onChange }: Watching & { readonly onChange: () => void },
): void {
  const retry = (error: unknown) => {
    if (signal.aborted) return;
    log.warn('the watch of a key in the store was interrupted and is started again', { key, error });
    const timer = clock.timer(RETRY_MS, follow);
    signal.addEventListener('abort', () => timer.cancel(), { once: true });
  };
  const follow = () => {
    Promise.resolve(store.revision()).then((revision) => {
      if (signal.aborted) return;
      const subscription = store.watch(revision, { prefix: key, changes: onChange, closed: retry });
      signal.addEventListener('abort', () => subscription.stop(), { once: true });
      // It may have changed before the watch began.
      onChange();
    }, retry);
  };
  follow();
}
