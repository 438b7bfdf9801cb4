import type { Release } from '../../../api/release.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Store } from '../../../store/index.ts';
import { watchKey } from '../watch-key.ts';
import { CLUSTER_ROW, readClusterRow } from './cluster-row.ts';

interface StopOptions {
  readonly store: Store;
  readonly release: Release;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Stops this server. */
  readonly stop: () => void;
}

/**
 * Stops a server when the minimum level has risen above its own: it did not reach the store for so long that the others took
 * it for dead.
 */
export function stopBelowMinimum({ store, release, clock, log, signal, stop }: StopOptions): void {
  const check = async () => {
    const { level } = await readClusterRow(store);
    if (signal.aborted || level <= release.level) return;
    log.error('the minimum level of servers has risen above that of this one, which stops', { level, own: release });
    stop();
  };
  const onChange = () =>
    void check().catch((error: unknown) => log.warn('the minimum level of servers could not be read', { error }));
  watchKey(store, CLUSTER_ROW, { clock, log, signal, onChange });
}
