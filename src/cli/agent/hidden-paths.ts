/** Paths of this machine that no pod with its files may see: what gives power over a cluster. */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { findElsewhere } from '../clusters/elsewhere.ts';
import { clustersHome } from '../flags/cluster.ts';

/** Data directories of all clusters of this user, those that others name, and kubeconfigs. */
export async function hiddenPaths(dataDirectory: string, kubeconfig: string | undefined): Promise<readonly string[]> {
  const home = clustersHome();
  const named = (kubeconfig ?? '').split(':').filter((file) => file !== '');
  const paths = [
    home,
    dataDirectory,
    ...(await findElsewhere(home)),
    join(homedir(), '.kube'),
    ...named.map((file) => resolve(file)),
    // Keepers and servers of this machine.
    '/run/quarterdeck',
  ];
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  const found = [...new Set(real.filter((path) => path !== undefined && dirname(path) !== path))] as string[];
  return found.sort();
}
