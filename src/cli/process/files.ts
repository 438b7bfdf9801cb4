import { open, readFile, rename } from 'node:fs/promises';

/** Replaces a file atomically and durably: after a crash it is the old one or the new one. Only its owner may read it. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const next = `${file}.${process.pid}.tmp`;
  const handle = await open(next, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
}

/** Returns the text of a file, or undefined when it does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** ESRCH is the error for a file in /proc whose process has ended. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
}
