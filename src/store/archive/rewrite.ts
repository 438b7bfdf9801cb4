import { prefixEnd } from '../keys.ts';
import type { Rewrite } from './archive.ts';
import type { ArchiveDatabase, PlacedVersion } from './database.ts';
import { keyOfIndex, revisionOfIndex } from './layout.ts';
import type { Recorder } from './recorder.ts';

const STEP_VERSIONS = 200;

interface RewriteContext {
  readonly database: ArchiveDatabase;
  readonly recorder: Pick<Recorder, 'exclusively'>;
}

/** Replaces values under a prefix, some at a time, and resolves with their number. */
export async function rewritePrefix(
  { database, recorder }: RewriteContext,
  prefix: string,
  rewritten: Rewrite,
): Promise<number> {
  let count = 0;
  let start: Buffer | undefined = Buffer.from(prefix);
  while (start) {
    const from: Buffer = start;
    start = await recorder.exclusively(async () => {
      const { versions, next } = planStep(database, { from, prefix }, rewritten);
      count += versions.length;
      if (versions.length > 0) await database.write({ versions, state: database.state });
      return next;
    });
  }
  return count;
}

function planStep(
  database: ArchiveDatabase,
  { from, prefix }: { readonly from: Buffer; readonly prefix: string },
  rewritten: Rewrite,
): { readonly versions: readonly PlacedVersion[]; readonly next: Buffer | undefined } {
  const versions: PlacedVersion[] = [];
  const end = prefixEnd(prefix);
  let seen = 0;
  for (const { key: bytes, entry } of database.entries({ start: from, ...(end && { end }) })) {
    if (seen++ >= STEP_VERSIONS) return { versions, next: bytes };
    if (entry.isDeletion) continue;
    const key = keyOfIndex(bytes).toString();
    const place = { revision: revisionOfIndex(bytes), index: entry.index };
    const version = database.version(key, place);
    const value = version.value && rewritten({ key, value: version.value, revision: place.revision });
    if (value) versions.push({ ...place, version: { ...version, value } });
  }
  return { versions, next: undefined };
}
