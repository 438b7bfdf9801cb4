/** Starts the controllers of a federation, which write to its members. */
import { createClient } from '../../client/client.ts';
import { type FederationOptions, runFederation } from '../../federation/controllers/run.ts';
import { type ElectionOptions, elected } from './elected.ts';
import { memberConnection } from './member-connection.ts';
import { openCluster } from './open-cluster.ts';

/** `client` calls the API server of the federation, and `host` the cluster that keeps the credentials of members. */
export type FederationControllerOptions = Omit<FederationOptions, 'connect'> & ElectionOptions;

/** Runs the controllers until the signal is aborted, while they are elected. */
export function runFederationControllers(options: FederationControllerOptions): Promise<void> {
  const { host, namespace } = options;
  return elected(options, (signal) =>
    runFederation({
      ...options,
      signal,
      connect: async (cluster, connecting) => {
        const connection = await memberConnection(cluster, { host, namespace, signal: connecting });
        const { transport, close } = openCluster(connection);
        return { client: createClient(transport), close };
      },
    }),
  );
}
