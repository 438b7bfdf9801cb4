/** Nodes with real pods in the process of the cluster. */
import { createClient } from '../../../client/client.ts';
import { nodeUser, SERVICE_PROXY } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { subnetsOf } from '../../../node/simulated/agent/addresses.ts';
import { connectionByNode } from '../../../server/nodes/by-node.ts';
import type { RealRuntime } from '../../agent/open-runtime.ts';
import type { RunningNode } from '../../agent/run-node.ts';
import { apiVersion } from '../../version.ts';
import { advertisedAddress } from '../listeners/addresses.ts';
import type { NodeDependencies } from './node-dependencies.ts';
import type { NodePlan } from './plan-nodes.ts';

/** Resolves when the nodes are registered. Their runtimes come up after that. */
export async function startRealNodes(
  { names, clusterCidr, runtime }: NodePlan & { readonly runtime: RealRuntime },
  { server, cleanup, clock, random, log, settings, directory, remote, authority }: NodeDependencies,
): Promise<void> {
  if (names.length === 0) return;
  const { runNode } = await import('../../agent/run-node.ts');
  const { localConnection } = await import('../../agent/connection.ts');
  const { startServices } = await import('./services.ts');
  const services = { client: createClient(directTransport(server.direct(SERVICE_PROXY))), clock, random, log };
  const running = new Map<string, RunningNode>();
  const local = localConnection((name) => running.get(name));
  server.reachNodesBy(connectionByNode((name) => running.has(name), { local, remote }));
  const subnets = subnetsOf(clusterCidr, names.length);
  for (const [index, name] of names.entries()) {
    const client = createClient(directTransport(server.direct(nodeUser(name))));
    const node = await runNode({
      ...{ client, clock, random, log: log.with({ node: name }), name, runtime },
      endpoint: settings.containerRuntimeEndpoint,
      addresses: [advertisedAddress(settings.bindAddress, settings.serviceClusterIpRange)],
      podCIDR: subnets?.at(index),
      ...{ dataDirectory: directory, clusterDomain: 'cluster.local', clusterDns: [] },
      liveConfigVolumes: settings.liveConfigVolumes === true,
      ...{ version: apiVersion.gitVersion, authority },
      startServices: (each) => startServices({ ...services, node: each, removesRules: true }),
    });
    running.set(name, node);
    cleanup.add(() => node.stop());
  }
}
