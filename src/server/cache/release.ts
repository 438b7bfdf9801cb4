/**
 * Which objects this very release wrote: they are served as they are stored. What another one wrote is read through today's
 * descriptions first, which takes most of the time of a first list.
 */

import type { Store } from '../../store/store.ts';
import { StoreConflict } from '../../store/store.ts';
import { commitMarkers } from '../transaction/markers.ts';

const KEY = '/quarterdeck/release';

interface Marker {
  readonly release: string;
  /** Whatever is newer was written by it. */
  readonly since: number;
}

/**
 * The revision after which everything was written by `release`. Only for a store that one program writes to at a time: it
 * must be asked before that program writes anything else.
 */
export async function ownSince(store: Store, release: string): Promise<number> {
  const row = await store.get(KEY);
  const marker = row && readMarker(row.value);
  if (marker?.release === release) return marker.since;
  const since = await store.revision();
  try {
    const value = Buffer.from(JSON.stringify({ release, since } satisfies Marker));
    return Math.max(since, await commitMarkers(store, [{ key: KEY, value, expect: row?.revision ?? 0 }]));
  } catch (error) {
    if (error instanceof StoreConflict) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function readMarker(value: Buffer): Marker | undefined {
  try {
    return JSON.parse(value.toString());
  } catch {
    return undefined; // Somebody else's: it is written anew.
  }
}
