/** The files of a data directory that are part of a backup. A cluster that is restored with them is the same for its clients. */
import { join } from 'node:path';
import type { SavedFiles } from '../../../backup/file/content.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { AssemblyError } from '../../assembly-error.ts';
import { CLUSTER_KEY_FILES } from '../../keys/shared-keys.ts';
import { keyFileIn } from '../encryption.ts';

/** Roles of files. They are names in a backup, and never paths. */
export const SETTINGS = 'cluster.json';
const ENCRYPTION_KEYS = 'encryption.key';

/** Without one of these, clients would not know the cluster again. */
const REQUIRED = ['ca.crt', 'ca.key', 'sa.key', ENCRYPTION_KEYS] as const;

/** Certificates for this machine, and keys of members of etcd, are not among them: a start creates what it needs. */
export async function readSavedFiles(directory: string, keyFile: string): Promise<SavedFiles> {
  const paths: Readonly<Record<string, string>> = {
    ...Object.fromEntries(CLUSTER_KEY_FILES.map((name) => [name, join(directory, 'pki', name)])),
    [ENCRYPTION_KEYS]: keyFile,
    [SETTINGS]: join(directory, 'cluster.json'),
  };
  const files: Record<string, string> = {};
  for (const [role, path] of Object.entries(paths)) {
    const text = await readIfThere(path);
    if (text !== undefined) files[role] = text;
  }
  return files;
}

/** Writes keys and certificates into a data directory in the making. Settings are up to the caller. */
export async function writeSavedKeys(directory: string, files: SavedFiles): Promise<void> {
  for (const name of REQUIRED) {
    if (files[name] === undefined) throw new AssemblyError(`the backup has no ${name}: no cluster continues with it`);
  }
  await makeDirectories(join(directory, 'pki'), 0o700);
  for (const name of CLUSTER_KEY_FILES) {
    const text = files[name];
    if (text !== undefined) await writeWhole(join(directory, 'pki', name), text);
  }
  await writeWhole(keyFileIn(directory), files[ENCRYPTION_KEYS] as string);
}
