/**
 * The servers that a proxy has found in a cluster, kept in the user's home for the next command: it may start while the server of its
 * kubeconfig is gone. The certificate authority says which cluster it is.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { isServer } from '../../../client/kubeconfig/server-list.ts';
import { clustersHome } from '../cluster.ts';

/** Below the directories of clusters, as a name that no cluster has. */
const FOLDER = '.servers';
const MAX_SERVERS = 32;

export interface RememberedServers {
  /** Empty when none are known. */
  read(): Promise<readonly string[]>;
  keep(servers: readonly string[]): Promise<void>;
}

export function rememberedServers({ ca = '' }: Pick<Connection, 'ca'>): RememberedServers {
  const folder = join(clustersHome(), FOLDER);
  const file = join(folder, `${createHash('sha256').update(ca).digest('hex').slice(0, 32)}.json`);
  return {
    async read() {
      const text = await readIfThere(file).catch(() => undefined);
      return text === undefined ? [] : serversIn(text);
    },
    async keep(servers) {
      await makeDirectories(folder, 0o700);
      await writeWhole(file, `${JSON.stringify([...new Set(servers)].sort().slice(0, MAX_SERVERS))}\n`);
    },
  };
}

function serversIn(text: string): readonly string[] {
  try {
    const found: unknown = JSON.parse(text);
    if (!Array.isArray(found)) return [];
    return found.filter(isServer);
  } catch {
    return []; // It is written again.
  }
}
