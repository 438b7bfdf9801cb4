/** Small helpers for files that appear whole or not at all. */
import { dirname } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { syncDirectory } from '../../../base/files/own/files.ts';
import { PRIVATE_FILE } from '../../../base/files/own/modes.ts';
import { open, readdir, rename } from '../../../base/files/own/own-files.ts';

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

export async function listIfThere(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ifMissing)) ?? [];
}
