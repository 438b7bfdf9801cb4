import { prefixEnd } from '../keys.ts';
import type { Purged } from './archive.ts';
import type { ArchiveDatabase, PlacedVersion, RemovedVersion } from './database.ts';
import { indexEnd, keyOfIndex, type Place, revisionOfIndex } from './layout.ts';

const MAX_STEP_VERSIONS = 500;

/** A range of the index: from a key, up to the next one that is not in it. */
interface IndexRange {
  readonly start: Buffer;
  readonly end?: Buffer;
}

export const rangeOfKey = (key: string): IndexRange => ({ start: Buffer.from(key), end: indexEnd(key) });

export function rangeOfPrefix(prefix: string): IndexRange {
  const end = prefixEnd(prefix);
  const start = prefix === '' ? Buffer.from([0]) : Buffer.from(prefix);
  return end ? { start, end } : { start };
}

/**
 * Deletes the versions of all keys in a range that were replaced up to a revision, and forgets who has written the rest. Nobody else may
 * write meanwhile.
 */
export async function purgeKeys(database: ArchiveDatabase, range: IndexRange, until: number): Promise<Purged> {
  const purged = { changes: 0, bytes: 0 };
  let start: Buffer | undefined = range.start;
  while (start) {
    const step: Step = planStep(database, { ...range, start }, until);
    for (const { key, ...place } of step.removed) purged.bytes += database.version(key, place).value?.length ?? 0;
    purged.changes += step.removed.length;
    const { removed, versions } = step;
    if (removed.length + versions.length > 0) await database.write({ removed, versions, state: database.state });
    start = step.next;
  }
  return purged;
}

interface Step {
  readonly removed: readonly RemovedVersion[];
  /** Versions that stay, without what is known of their change. */
  readonly versions: readonly PlacedVersion[];
  /** Where to go on; undefined at the end. */
  readonly next: Buffer | undefined;
}

function planStep(database: ArchiveDatabase, range: IndexRange, until: number): Step {
  const removed: RemovedVersion[] = [];
  const versions: PlacedVersion[] = [];
  let current = '';
  let isKept = false;
  for (const { key: bytes, entry } of database.entries(range)) {
    const key = keyOfIndex(bytes).toString();
    const isOther = key !== current;
    if (isOther && removed.length + versions.length >= MAX_STEP_VERSIONS) {
      return { removed, versions, next: indexEnd(current) };
    }
    if (isOther) isKept = false;
    current = key;
    const place: Place = { revision: revisionOfIndex(bytes), index: entry.index };
    if (place.revision > until) continue;
    if (isKept || entry.isDeletion) removed.push({ key, ...place });
    else {
      const version = database.version(key, place);
      if (!version.isBase)
        versions.push({ ...place, version: { ...version, isBase: true, origin: undefined, request: undefined } });
    }
    isKept = true;
  }
  return { removed, versions, next: undefined };
}
