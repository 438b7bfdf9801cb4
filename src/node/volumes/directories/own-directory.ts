/** Where a node has the directory of a volume, when the data directory of the cluster is not where it was. */
import { basename, dirname, join } from 'node:path';
import { stat } from '../../../base/files/own/own-files.ts';
import type { NodeDirectory } from '../../../kinds/volumes/node-directory.ts';

/** Returns the path of a volume's directory on this node. */
export type OwnDirectory = (directory: NodeDirectory) => Promise<string>;

/** A file that every data directory of a cluster has. */
const CLUSTER_FILE = 'cluster.json';

/**
 * Finds directories of volumes below `volumes`, a folder of the data directory: a volume has the absolute path of the day when it was
 * provisioned, which in a copied data directory is that of the original, with the data of another cluster. `undefined`: they are
 * not in a data directory.
 */
export function ownDirectory(volumes: string | undefined): OwnDirectory {
  return async ({ node, path }) => {
    if (volumes === undefined) return path;
    const own = join(volumes, node, basename(path));
    if (own === path) return path;
    const isOfCluster = await exists(join(dirname(dirname(dirname(path))), CLUSTER_FILE));
    return isOfCluster || (await exists(own)) ? own : path;
  };
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
