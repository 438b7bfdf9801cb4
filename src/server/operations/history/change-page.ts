import type { ArchivedChange, ChangeRange } from '../../../store/archive/archive.ts';
import type { Reader } from '../../objects/ports.ts';
import type { History } from '../ports.ts';

type Ports = Pick<History, 'archive'> & Pick<Reader, 'turns'>;

export interface ChangeQuery {
  /** Only changes after this revision. */
  readonly after: number | undefined;
  /** Only changes up to this revision. */
  readonly until: number;
  readonly limit: number;
  readonly matches: (change: ArchivedChange) => boolean | Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

export interface ChangePage {
  /** The revision up to which changes could be in the page. */
  readonly revision: number;
  /** Newest first. Changes of one revision are in one page. */
  readonly changes: readonly ArchivedChange[];
  /** The `continue` of the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** Limit for the values of a page. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** Number of changes between checks of the clock. */
const STEP = 32;
/** Limit for the changes that are read for one page: a page may end without having reached its limit. */
const MAX_READ = 50_000;

/** Reads a page of changes, over several turns of the event loop. */
export async function readChanges(
  { archive, turns }: Ports,
  range: Pick<ChangeRange, 'key' | 'prefix'>,
  { after = 0, until, limit, matches, signal }: ChangeQuery,
): Promise<ChangePage> {
  const changes: ArchivedChange[] = [];
  let bytes = 0;
  let read = 0;
  let last = until + 1;
  const asked = { ...range, until, newestFirst: true };
  for await (const change of archive.changes(after > 0 ? { ...asked, after } : asked)) {
    const isFull = changes.length >= limit || bytes >= MAX_PAGE_BYTES || read >= MAX_READ;
    if (isFull && change.revision !== last) return { revision: until, changes, next: String(last) };
    last = change.revision;
    read++;
    if (read % STEP === 0) {
      const pause = turns.pause();
      if (pause) await pause;
      signal?.throwIfAborted();
    }
    const isMatch = matches(change);
    if (!(isMatch instanceof Promise ? await isMatch : isMatch)) continue;
    changes.push(change);
    bytes += change.value?.length ?? 0;
  }
  return { revision: until, changes, next: undefined };
}
