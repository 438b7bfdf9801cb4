import { systemClock } from '../../src/base/clock.ts';
import { openEmbeddedStore, openEtcdStore, type Row, type Store } from '../../src/store/index.ts';
import type { Change } from '../../src/store/store.ts';
import type { SeenChange, SeenRow } from './verifier.ts';

/** A directory of the embedded store, or the address of an etcd. */
export type Place = { readonly directory: string } | { readonly endpoint: string };

/** History is short, so that forgetting goes on while the crash comes; but not as short as a round's last moments. */
export function openAt(place: Place): Promise<Store> {
  if ('endpoint' in place) {
    return openEtcdStore({ endpoints: [place.endpoint], clock: systemClock, timeoutMilliseconds: 10_000 });
  }
  return openEmbeddedStore({ directory: place.directory, clock: systemClock, historyBytes: 4 * 2 ** 20 });
}

/** A value is its token, and padding of many sizes: on a page, on a page of its own, on several. */
export function valueWith(token: string, size: number): Buffer {
  return Buffer.from(`${token}\n${'x'.repeat(size)}`);
}

function tokenOf(value: Buffer): string {
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
