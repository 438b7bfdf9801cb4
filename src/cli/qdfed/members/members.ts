/** The members of a federation, reached with the credentials that the host cluster has. */

import { memberConnection } from '../../../assembly/federation/member-connection.ts';
import { openCluster } from '../../../assembly/federation/open-cluster.ts';
import { createClient } from '../../../client/client.ts';
import { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import type { ClusterAccess } from './contexts.ts';
import type { Federation } from './federation.ts';

export interface MemberAccess {
  readonly cluster: Cluster;
  /** Undefined when its credentials cannot be read; `problem` says why. */
  readonly access?: ClusterAccess;
  readonly problem?: string;
}

const TIMEOUT_MS = 5_000;

/** Calls `use` with the members in the order of their names, and closes the connections afterwards. */
export async function withMembers<T>(
  { host, federation, namespace }: Federation,
  use: (members: readonly MemberAccess[]) => Promise<T>,
): Promise<T> {
  const transports: { close(): void }[] = [];
  const { signal } = new AbortController();
  try {
    const { items } = await federation.client.of(Cluster).list();
    const members = await Promise.all(
      items.map(async (cluster): Promise<MemberAccess> => {
        const context = cluster.metadata.name ?? '';
        try {
          const connection = await memberConnection(cluster, { host: host.client, namespace, signal });
          const opened = openCluster(connection, { timeout: TIMEOUT_MS });
          transports.push(opened);
          const client = createClient(opened.transport);
          return { cluster: cluster as Cluster, access: { context, connection, client } };
        } catch (error) {
          return { cluster: cluster as Cluster, problem: (error as Error).message };
        }
      }),
    );
    return await use(members);
  } finally {
    for (const transport of transports) transport.close();
  }
}

/** The condition Ready, as the federation sees the cluster. */
export function readiness({ status }: Cluster): { readonly isReady: boolean; readonly message: string } {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return { isReady: ready?.status === 'True', message: ready?.message ?? 'it has not been checked yet' };
}
