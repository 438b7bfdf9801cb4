/** Files of the keeper: what it knows is on disk before it acts on it. */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

/** Replaces a file in one step. */
export function writeAtomically(path: string, text: string): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w', 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
}

/** Undefined if there is none, or none that can be read. */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
