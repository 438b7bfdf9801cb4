/** Small helpers for files that appear whole or not at all. */
import { dirname } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { PRIVATE_FILE } from '../../../base/files/own/modes.ts';
import { open, readdir, readFile, rename } from '../../../base/files/own/own-files.ts';

/** Replaces a file durably. `draft` is on the same file system. */
export async function writeWhole(file: string, content: string, draft: string): Promise<void> {
  const handle = await open(draft, 'w', PRIVATE_FILE);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(dirname(file));
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(ifMissing);
}

export async function listIfThere(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ifMissing)) ?? [];
}
