/**
 * Compiled code of bundles in the user's cache folder: for a Node release, flags or a processor that the code of the build is
 * not for. V8 rejects such code, and a start would take twice as long every time.
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
import { makeDirectoriesSync } from '../own-files/make-directories.ts';

/** Code that was written longer ago is removed when other code is written. A release that is still used writes it again. */
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** The newest files that stay, of 3 to 5 MB each: a flag may be another one in every process, such as the port of a debugger. */
const MAX_FILES = 20;
const WRITABLE_BY_OTHERS = 0o022;
/** A name of a file has 255 bytes at most. Where this cuts flags, two sets of them may share a file, and replace each other's code. */
const MAX_FLAGS_LENGTH = 120;
const SUFFIX = '.code';

type Environment = Readonly<Record<string, string | undefined>>;

/** The code that an earlier process kept, unless somebody else could have written it: V8 runs it as it is. */
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
    return undefined; // Most often, the code of the build is the right one, and nothing was ever kept.
  }
}

/** Keeps code for the next process. It is only a matter of speed: where it cannot be written, nothing is said. */
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

/** Removes what is much older than a file that was just written, and what is too much. */
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
 * The flags of this process, as a part of a file's name. V8 takes code only from a process with the same flags as its own:
 * without them in the name, a process with others would hide the code of the build from all that follow.
 */
function flagsOf({ NODE_OPTIONS = '' }: Environment): string {
  const flags = [NODE_OPTIONS, ...process.execArgv].join(' ').trim();
  return flags.replaceAll(/[^\w.=-]+/g, '_').slice(0, MAX_FLAGS_LENGTH);
}

/** By Node's own variable for it, and where files have no owner that could be checked. */
function isOff({ NODE_DISABLE_COMPILE_CACHE }: Environment): boolean {
  return NODE_DISABLE_COMPILE_CACHE === '1' || !process.geteuid;
}
