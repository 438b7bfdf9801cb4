import { systemClock } from '../../src/base/time/clock.ts';
import { type StoreName, type StoreSettings, storeDriver } from '../../src/store/drivers.ts';
import type { Change, Row, Store } from '../../src/store/store.ts';
import type { SeenChange, SeenRow } from './verifier.ts';

/** Says how to open a store, as JSON that another process can read. */
export interface StoreSpec {
  readonly store: StoreName;
  readonly settings: StoreSettings;
  readonly directory: string;
}

/** History is short, so that it is trimmed while the crash comes, but longer than the last moments of a round. */
const HISTORY_BYTES = 4 * 2 ** 20;

export function openStore({ store, settings, directory }: StoreSpec): Promise<Store> {
  return storeDriver(store).open(settings, { directory, clock: systemClock, historyBytes: HISTORY_BYTES });
}

/** Returns a value of its token and padding of many sizes: on a page, on a separate page, on several. */
export function valueWith(token: string, size: number): Buffer {
  return Buffer.from(`${token}\n${'x'.repeat(size)}`);
}

export function tokenOf(value: Buffer): string {
  return value.toString('utf8', 0, value.indexOf('\n'));
}

export function seenRow({ key, revision, value }: Row): SeenRow {
  return { key, revision, token: tokenOf(value) };
}

export function seenChange({ key, revision, value, previous }: Change): SeenChange {
  return {
    key,
    revision,
    token: value && tokenOf(value),
    previous: previous && { token: tokenOf(previous.value), revision: previous.revision },
  };
}
