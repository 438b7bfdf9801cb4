/**
 * Compiled code of bundles in the user's cache folder: for a Node release, flags or a processor that the code of the build is
 * not for. V8 rejects such code, and a start would take twice as long every time.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

/** Code that was written longer ago is removed when other code is written. A release that is still used writes it again. */
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
const WRITABLE_BY_OTHERS = 0o022;
const SUFFIX = '.code';

/** The code that an earlier process kept, unless somebody else could have written it: V8 runs it as it is. */
export function readKept(bundle: string): Buffer | undefined {
  if (isOff()) return undefined;
  try {
    const file = openSync(fileOf(bundle), 'r');
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
export function keep(bundle: string, code: Buffer): void {
  if (isOff()) return;
  try {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    const file = fileOf(bundle);
    const next = `${file}.${process.pid}`;
    writeFileSync(next, code, { mode: 0o600 });
    renameSync(next, file);
    removeOld();
  } catch {}
}

function removeOld(): void {
  const oldest = Date.now() - KEPT_DAYS * DAY_MS;
  for (const name of readdirSync(folder())) {
    const file = join(folder(), name);
    if (name.includes(SUFFIX) && statSync(file).mtimeMs < oldest) rmSync(file);
  }
}

function fileOf(bundle: string): string {
  return join(folder(), `${basename(bundle)}.${process.version}-${process.arch}${SUFFIX}`);
}

function folder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'quarterdeck');
}

/** By Node's own variable for it. */
function isOff(): boolean {
  return process.env.NODE_DISABLE_COMPILE_CACHE === '1';
}
