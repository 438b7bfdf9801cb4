/**
 * Compiled code of bundles in the user's cache directory, for a Node release, flags or a processor that the code of the
 * build does not fit. V8 rejects such code, and every start would take twice as long.
 */

import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeDirectoriesSync } from '../files/own/make-directories.ts';

/** Retention of compiled code, after which it is removed when a new file is written. */
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Limit for the number of files, of 3 to 5 MB each: flags such as a debugger's port may differ in every process. */
const MAX_FILES = 20;
const WRITABLE_BY_OTHERS = 0o022;
/**
 * Limit for flags in a file name, which has 255 bytes at most. Two truncated sets of flags may share a file, and
 * replace each other's code.
 */
const MAX_FLAGS_LENGTH = 120;
const SUFFIX = '.code';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the code that an earlier process saved, unless somebody else could have written it: V8 runs it unchecked. */
export function readKept(bundle: string, env: Environment): Buffer | undefined {
  if (isOff(env)) return undefined;
  try {
    const file = openSync(fileOf(bundle, env), 'r');
    try {
      const { uid, mode } = fstatSync(file);
      return uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0 ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // Usually the code of the build is valid, and none was ever saved.
  }
}

/** Saves code for the next process. It only affects speed, so write errors are ignored. */
export function keep(bundle: string, code: Buffer, env: Environment): void {
  if (isOff(env)) return;
  try {
    const file = fileOf(bundle, env);
    makeDirectoriesSync(dirname(file), 0o700);
    const next = `${file}.${process.pid}`;
    writeFileSync(next, code, { mode: 0o600 });
    renameSync(next, file);
    removeOld(file);
  } catch {}
}

/** Removes files much older than one that was just written, and files over the limit. */
function removeOld(written: string): void {
  const folder = dirname(written);
  const files = readdirSync(folder)
    .filter((name) => name.includes(SUFFIX))
    .map((name) => ({ file: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  const oldest = statSync(written).mtimeMs - KEPT_DAYS * DAY_MS;
  for (const [index, { file, time }] of files.entries()) if (index >= MAX_FILES || time < oldest) rmSync(file);
}

function fileOf(bundle: string, env: Environment): string {
  const folder = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'quarterdeck');
  return join(folder, `${basename(bundle)}.${process.version}-${process.arch}${flagsOf(env)}${SUFFIX}`);
}

/**
 * The flags of this process as a part of a file name. V8 accepts code only from a process with the same flags: without
 * them in the name, a process with other flags would hide the code of the build from all later ones.
 */
function flagsOf({ NODE_OPTIONS = '' }: Environment): string {
  const flags = [NODE_OPTIONS, ...process.execArgv].join(' ').trim();
  return flags.replaceAll(/[^\w.=-]+/g, '_').slice(0, MAX_FLAGS_LENGTH);
}

/** Reports whether the cache is disabled: by Node's own variable for it, or because files have no owner to check. */
function isOff({ NODE_DISABLE_COMPILE_CACHE }: Environment): boolean {
  return NODE_DISABLE_COMPILE_CACHE === '1' || !process.geteuid;
}
