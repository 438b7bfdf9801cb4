import { readKeys } from '../../../assembly/store/encryption.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { checkWritableFile } from '../../process/writable.ts';

/** Rejects when the file of `--encryption-key-file` could be neither used nor created. */
export async function checkKeyFile(file: string): Promise<void> {
  await checkWritableFile('--encryption-key-file', file);
  if ((await readIfThere(file)) !== undefined) await readKeys(file);
}
