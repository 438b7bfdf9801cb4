/** Decides which backups may be removed. Pure. */

export type BackupKind = 'hourly' | 'daily' | 'manual';

export interface ListedBackup {
  readonly name: string;
  /** Milliseconds since the epoch, by the clock of the server that took it. */
  readonly time: number;
  readonly kind: BackupKind;
  /** Name of the backup that an incremental one builds on; undefined for a full one. */
  readonly base?: string | undefined;
  /** True when it is known that it cannot be restored, for instance because its verification failed. */
  readonly isDamaged?: boolean | undefined;
}

export interface RetentionPolicy {
  /** Number of backups of a kind that are kept. */
  readonly hourly: number;
  readonly daily: number;
}

/** Backups of a clock that was further ahead than this rank behind all others. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Returns the names of the backups to remove, oldest first. Kept are the newest ones of each kind, manual ones, the newest one that can
 * be restored, and every backup that a kept one builds on. Damaged ones take no place of a kind; they are kept as long as they are
 * newer than all that can be restored, so that their cause can be found.
 */
export function planRetention(
  backups: readonly ListedBackup[],
  now: number,
  policy: RetentionPolicy,
): { readonly remove: readonly string[] } {
  const all = new Map(backups.map((backup) => [backup.name, backup]));
  const ranked = [...backups].sort(newestFirst(now));
  const isRestorable = restorability(all);
  const restorable = ranked.filter(isRestorable);
  const newest = ranked.indexOf(restorable[0]!);
  const kept = [
    ...ranked.filter(({ kind }) => kind === 'manual'),
    ...ranked.slice(0, newest < 0 ? ranked.length : newest + 1),
    ...newestOf(restorable, 'hourly', policy.hourly),
    ...newestOf(restorable, 'daily', policy.daily),
  ];
  const needed = withBases(kept, all);
  return { remove: ranked.flatMap(({ name }) => (needed.has(name) ? [] : [name])).reverse() };
}

/** Backups from the future come last: after the clock was corrected, new ones must not be removed in their favour. */
function newestFirst(now: number): (a: ListedBackup, b: ListedBackup) => number {
  const isAhead = ({ time }: ListedBackup) => Number(time > now + MAX_CLOCK_SKEW_MS);
  return (a, b) => isAhead(a) - isAhead(b) || b.time - a.time || (a.name < b.name ? 1 : -1);
}

function newestOf(ranked: readonly ListedBackup[], kind: BackupKind, count: number): readonly ListedBackup[] {
  return ranked.filter((backup) => backup.kind === kind).slice(0, Math.max(0, count));
}

/** Returns a test for backups that are undamaged, like all that they build on. Each chain is followed once. */
function restorability(all: ReadonlyMap<string, ListedBackup>): (backup: ListedBackup) => boolean {
  const known = new Map<string, boolean>();
  return (backup) => {
    const followed: string[] = [];
    let outcome = false;
    for (let each: ListedBackup | undefined = backup; each; each = all.get(each.base)) {
      // A chain that comes back to itself finds false here.
      outcome = known.get(each.name) ?? false;
      if (known.has(each.name)) break;
      known.set(each.name, false);
      followed.push(each.name);
      if (each.isDamaged) break;
      outcome = each.base === undefined;
      if (each.base === undefined) break;
    }
    for (const name of followed) known.set(name, outcome);
    return outcome;
  };
}

/** Returns the names of backups and of all that they build on, through others. Chains that lead in a circle end. */
function withBases(kept: readonly ListedBackup[], all: ReadonlyMap<string, ListedBackup>): ReadonlySet<string> {
  const needed = new Set<string>();
  for (const backup of kept) {
    let each: ListedBackup | undefined = backup;
    while (each && !needed.has(each.name)) {
      needed.add(each.name);
      each = each.base === undefined ? undefined : all.get(each.base);
    }
  }
  return needed;
}
