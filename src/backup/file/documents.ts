/** Parses the blocks of a backup that are JSON. */
import { isTree } from '../../base/json/tree.ts';
import type { BackupAbout, BackupEnd, SavedFiles, SavedMoment } from './content.ts';
import { BackupDamaged } from './format.ts';

/** Leaves room for the revisions after a restore. */
const MAX_REVISION = 2 ** 52;

export function parseAbout(content: Buffer): BackupAbout {
  const { cluster, release, store, oldest, revision, time } = parse(content, 'its description');
  if (typeof cluster !== 'string' || typeof store !== 'string') throw damaged('it does not name its cluster');
  if (!isTree(release) || typeof release.version !== 'string' || !Number.isSafeInteger(release.level)) {
    throw damaged('it does not name the release that has taken it');
  }
  if (oldest !== undefined && !isTree(oldest)) throw damaged('the beginning of its history is no moment');
  return {
    cluster,
    release: { version: release.version, level: release.level as number },
    store,
    ...momentOf({ revision, time }),
    oldest: oldest && momentOf(oldest),
  };
}

export function parseFiles(content: Buffer): SavedFiles {
  const files = parse(content, 'the files');
  if (Object.values(files).some((text) => typeof text !== 'string')) throw damaged('one of its files is not text');
  return files as SavedFiles;
}

export function parseEnd(content: Buffer): BackupEnd & { readonly digest: string } {
  const { rows, changes, damaged: unreadable, digest } = parse(content, 'its end');
  if (!isCount(rows) || !isCount(changes) || typeof digest !== 'string' || !Array.isArray(unreadable)) {
    throw damaged('its end is incomplete');
  }
  const keys = unreadable.map((each: unknown) => {
    if (!isTree(each) || typeof each.key !== 'string' || !isCount(each.revision))
      throw damaged('its end is incomplete');
    return { key: each.key, revision: each.revision };
  });
  return { rows, changes, damaged: keys, digest };
}

function momentOf({ revision, time }: Readonly<Record<string, unknown>>): SavedMoment {
  if (!isCount(revision) || revision > MAX_REVISION) throw damaged('a revision is not a whole number, at most 2^52');
  if (!isCount(time)) throw damaged('a time is not a number of milliseconds');
  return { revision, time };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function parse(content: Buffer, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch {
    // As below.
  }
  if (isTree(value)) return value;
  throw damaged(`${what} cannot be read`);
}

const damaged = (problem: string) => new BackupDamaged(`the backup is damaged: ${problem}`);
