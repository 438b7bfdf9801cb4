/** Files of the keeper: what it knows is on disk before it acts on it. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step. When it throws, for example on a full disk, the file is as before. */
export function writeAtomically(path: string, text: string): void {
  const next = `${path}.next`;
  try {
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** Undefined if there is none, or none that can be read. */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
