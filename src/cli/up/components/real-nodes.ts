/** Nodes with real pods in the process of the cluster. */
import { EventEmitter, once } from 'node:events';
import { sleep } from '../../../base/time/clock.ts';
import { createClient } from '../../../client/client.ts';
import { nodeUser, SERVICE_PROXY } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { subnetsOf } from '../../../node/simulated/agent/addresses.ts';
import { connectionByNode } from '../../../server/outbound/nodes/by-node.ts';
import { machineNetwork, nodeNetwork } from '../../agent/network-plan.ts';
import { mayMakeRules } from '../../agent/node/may-make-rules.ts';
import type { OwnNetwork } from '../../agent/node/options.ts';
import { nodeConfig } from '../../agent/node-config.ts';
import { nodeId } from '../../agent/node-file.ts';
import type { RealRuntime } from '../../agent/open-runtime.ts';
import type { RunningNode } from '../../agent/run-node.ts';
import { apiVersion } from '../../version.ts';
import type { Settings } from '../flags.ts';
import { advertisedAddress, reachableAddress } from '../listeners/addresses.ts';
import type { NodeDependencies } from './node-dependencies.ts';
import type { StartingNode } from './nodes-ready.ts';
import type { NodePlan } from './plan-nodes.ts';
import { isPrivateCluster } from './private-cluster.ts';

/** A node whose runtime does not open keeps nothing else from being complete. */
const SERVED_TIMEOUT_MS = 30_000;

/** Resolves with the nodes when they are registered. Their runtimes come up after that. */
export async function startRealNodes(
  { names, clusterCidr, runtime }: NodePlan & { readonly runtime: RealRuntime },
  {
    server,
    cleanup,
    clock,
    random,
    log,
    settings,
    directory,
    clusterDns,
    isShared,
    remote,
    authority,
    whenReady,
    outlives,
    network: listening,
    openPorts,
  }: NodeDependencies,
): Promise<readonly StartingNode[]> {
  if (names.length === 0) return [];
  const { runNode } = await import('../../agent/run-node.ts');
  const { localConnection } = await import('../../agent/connection.ts');
  const { removeServiceRules, startServices } = await import('./services.ts');
  const config = nodeConfig(settings, isPrivateCluster(settings));
  const services = {
    ...{ client: createClient(directTransport(server.direct(SERVICE_PROXY))), clock, random, log },
    podRoutes: config.podRoutes,
    dataDirectory: directory,
  };
  const running = new Map<string, RunningNode>();
  const served = new EventEmitter();
  if (listening && !(await mayMakeRules())) {
    // What the daemon listens on for Services, it would close, and open again.
    const all = Promise.all(names.map((name) => once(served, name)));
    listening.awaits(Promise.race([all, sleep(clock, SERVED_TIMEOUT_MS)]));
  }
  const starting: StartingNode[] = [];
  const local = localConnection((name) => running.get(name));
  server.reachNodesBy(connectionByNode((name) => running.has(name), { local, remote }));
  const subnets = subnetsOf(clusterCidr, names.length);
  const machineAddress = advertisedAddress(settings.bindAddress, settings.serviceClusterIpRange);
  const networks = await ownNetworks({ names, clusterCidr }, directory, machineAddress);
  for (const [index, name] of names.entries()) {
    const network = networks.get(name);
    const client = createClient(directTransport(server.direct(nodeUser(name))));
    const node = await runNode({
      ...{ client, clock, random, log: log.with({ node: name }), name, runtime },
      endpoint: settings.containerRuntimeEndpoint,
      addresses: [network?.address ?? machineAddress],
      // Servers that share a store do not know of each other's nodes: the cluster divides the range.
      podCIDR: isShared ? undefined : subnets?.at(index),
      ...{ dataDirectory: directory, clusterDomain: settings.clusterDomain, clusterDns },
      apiServer: { host: hostForPods(settings), port: settings.port },
      ...{ config, network, version: apiVersion.gitVersion, openAfter: whenReady },
      authority,
      startServices: (each) =>
        startServices({
          ...{ ...services, nodeClient: client, node: each, keepsRules: outlives, daemon: listening?.daemon },
          onServed: () => served.emit(name),
        }),
      async removeRules(each) {
        if (!(await outlives())) await removeServiceRules(each, process.env.PATH ?? '');
      },
    });
    running.set(name, node);
    if (node.listensOn) openPorts.push({ ...node.listensOn, what: `agent of ${name}` });
    starting.push({ name, client, ready: node.ready });
    cleanup.add(() => node.stop());
  }
  return starting;
}

/** Pods of another user than root have the network of the machine: for them, the server is where it listens. */
function hostForPods({ bindAddress, serviceClusterIpRange }: Settings): string {
  return process.getuid?.() === 0
    ? advertisedAddress(bindAddress, serviceClusterIpRange)
    : reachableAddress(bindAddress, serviceClusterIpRange);
}

/** By name of the node: each but the first has a network of its own, where this process may make one. */
async function ownNetworks(
  { names, clusterCidr }: Pick<NodePlan, 'names' | 'clusterCidr'>,
  directory: string,
  machineAddress: string,
): Promise<ReadonlyMap<string, OwnNetwork>> {
  const machine = machineNetwork(directory, clusterCidr, names.length);
  if (names.length < 2 || process.getuid?.() !== 0 || !machine) return new Map();
  const path = process.env.PATH ?? '';
  const { openMachineNetwork, openNodeNetwork } = await import('../../agent/network.ts');
  await openMachineNetwork(machine, { machineAddress, path });
  return new Map(
    names.slice(1).map((name, position) => {
      const network = nodeNetwork(machine, position + 1, nodeId(directory, name));
      const open = (podCIDR: string) => openNodeNetwork(machine, network, { podCIDR, path });
      return [name, { ...network, gateway: machineAddress, open }];
    }),
  );
}
