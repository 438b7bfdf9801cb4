/** Paths of this machine that no pod with its files may see: what gives power over a cluster. */
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { findElsewhere } from '../clusters/elsewhere/elsewhere.ts';
import { readLastStart } from '../clusters/last-start.ts';
import { clustersHome } from '../flags/cluster.ts';
import { rememberedIn } from '../up/directory/directory.ts';

const BOOT_DIRECTORY = '/run';

/** Data directories of all clusters of this user, those that others name, and their kubeconfigs and keys, wherever those are. */
export async function hiddenPaths(dataDirectory: string, kubeconfig: string | undefined): Promise<readonly string[]> {
  const home = clustersHome();
  const named = (kubeconfig ?? '').split(':').filter((file) => file !== '');
  const below = await readdir(home).catch((): string[] => []);
  const clusters = new Set([dataDirectory, ...(await findElsewhere(home)), ...below.map((name) => join(home, name))]);
  const paths = [
    home,
    ...clusters,
    ...(await Promise.all([...clusters].map(filesElsewhere))).flat(),
    join(homedir(), '.kube'),
    ...named.map((file) => resolve(file)),
    ...(await ofThisBoot()),
  ];
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  const found = [...new Set(real.filter((path) => path !== undefined && dirname(path) !== path))] as string[];
  return found.sort();
}

/** Files of servers and keepers that last until the next boot: who runs, namespaces of pods, roots and states of containers. */
async function ofThisBoot(): Promise<string[]> {
  const names = await readdir(BOOT_DIRECTORY).catch((): string[] => []);
  return names.filter((name) => /^quarterdeck(?:-|$)/.test(name)).map((name) => join(BOOT_DIRECTORY, name));
}

/** Paths outside of the data directory that flags of the cluster named: kubeconfigs, the store, the keys of Secrets at rest, and backups. */
async function filesElsewhere(directory: string): Promise<readonly string[]> {
  const [start, settings] = await Promise.all([
    readLastStart(directory).catch(() => undefined),
    rememberedIn(directory).catch(() => undefined),
  ]);
  const { encryptionKeyFile, storeDir, backupTo, backupPassphraseFile } = settings ?? {};
  const paths = [...(start?.kubeconfigs ?? []), encryptionKeyFile, storeDir, backupTo, backupPassphraseFile];
  return paths.filter((path) => path !== undefined);
}
