/** Nodes with real pods in the process of a cluster. */
import { EventEmitter, once } from 'node:events';
import { sleep } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { nodeUser, SERVICE_PROXY } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { subnetsOf } from '../../node/simulated/agent/addresses.ts';
import { advertisedAddress, reachableAddress } from '../addresses.ts';
import type { OpeningNetwork } from '../cluster-network/network.ts';
import type { ApiAddress, Environment } from '../context.ts';
import type { ControlPlane } from '../control-plane/start-control-plane.ts';
import type { CertificateOptions } from '../keys/certificates.ts';
import { mayMakeRules } from '../node/may-make-rules.ts';
import { machineNetwork, nodeNetwork } from '../node/network/network-plan.ts';
import { nodeId } from '../node/node-file.ts';
import type { RealRuntime } from '../node/open-runtime.ts';
import type { NodeOptions, OwnNetwork } from '../node/options.ts';
import type { RunningNode } from '../node/start-node.ts';
import type { NodePlan } from './node-plan.ts';
import type { StartingNode } from './nodes-ready.ts';

/** Limit of the wait for Services, so that a node whose runtime does not open delays nothing else. */
const SERVED_TIMEOUT_MS = 30_000;

export interface RealNodesOptions
  extends Environment,
    Pick<NodeOptions, 'config' | 'endpoint' | 'hidden' | 'version'>,
    Pick<CertificateOptions, 'api' | 'directory' | 'isShared'> {
  readonly plane: Pick<ControlPlane, 'server' | 'nodes'>;
  /** Directory of the volumes that the cluster provisions; undefined: volumes are at the paths that they have. */
  readonly volumesDirectory: string | undefined;
  /** Addresses for the resolv.conf of pods. */
  readonly clusterDns: readonly string[];
  /** Certificates of the cluster's authorities, as PEM. */
  readonly authority: () => string;
  /** Resolves with true when pods outlive the program, and with them rules and routes. */
  readonly outlives: () => Promise<boolean>;
  /** The process that listens for the cluster. */
  readonly network: OpeningNetwork | undefined;
  /** Resolves when the cluster is ready. */
  readonly whenReady: Promise<void>;
}

/** Resolves with the nodes when they are registered. Their runtimes come up after that. */
export async function startRealNodes(
  { names, clusterCidr, runtime }: NodePlan & { readonly runtime: RealRuntime },
  options: RealNodesOptions,
): Promise<readonly StartingNode[]> {
  const { plane, api, config, directory, clusterDns, isShared, whenReady } = options;
  const { cleanup, clock, random, log, path, outlives, openPorts, volumesDirectory } = options;
  const { network: listening } = options;
  const { server } = plane;
  if (names.length === 0) return [];
  const { startNode } = await import('../node/start-node.ts');
  const { localConnection } = await import('../node/connection.ts');
  const { removeServiceRules, startServices } = await import('../node/network/services.ts');
  const { localApiAddress } = await import('../node/network/local-api.ts');
  const localApi = isShared ? await localApiAddress(directory, random) : undefined;
  const services = {
    client: createClient(directTransport(server.direct(SERVICE_PROXY))),
    clock,
    random,
    log,
    path,
    podRoutes: config.podRoutes,
    dataDirectory: directory,
  };
  const running = new Map<string, RunningNode>();
  const served = new EventEmitter();
  if (listening && !(await mayMakeRules(path))) {
    // Otherwise the daemon would close what it listens on for Services, and open it again.
    const all = Promise.all(names.map((name) => once(served, name)));
    listening.awaits(Promise.race([all, sleep(clock, SERVED_TIMEOUT_MS)]));
  }
  const starting: StartingNode[] = [];
  plane.nodes.add(
    (name) => running.has(name),
    localConnection((name) => running.get(name)),
  );
  const subnets = subnetsOf(clusterCidr, names.length);
  const machineAddress = advertisedAddress(api.bindAddress, api.serviceClusterIpRange);
  const networks = await ownNetworks({ names, clusterCidr }, { directory, path, machineAddress });
  for (const [index, name] of names.entries()) {
    const network = networks.get(name);
    const client = createClient(directTransport(server.direct(nodeUser(name))));
    const node = await startNode({
      ...options,
      client,
      log: log.with({ node: name }),
      name,
      canBeElsewhere: isShared,
      runtime,
      addresses: [network?.address ?? machineAddress],
      // Servers that share a store do not know of each other's nodes: the cluster divides the range.
      podCIDR: isShared ? undefined : subnets?.at(index),
      // Servers that share a store have volumes of each other's.
      volumesDirectory: isShared ? undefined : volumesDirectory,
      dataDirectory: directory,
      clusterDomain: api.clusterDomain,
      clusterDns: () => clusterDns,
      apiServer: { host: hostForPods(api), port: api.port },
      apiServerForPods: localApi && (() => localApi),
      network,
      openAfter: whenReady,
      startServices: (each) =>
        startServices({
          ...services,
          nodeClient: client,
          node: each,
          keepsRules: outlives,
          openDaemon: async () => listening?.daemon,
          // One node listens for all of them.
          localApi: index === 0 ? localApi : undefined,
          onServed: () => served.emit(name),
        }),
      async removeRules(each) {
        if (!(await outlives())) await removeServiceRules(each, path);
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
function hostForPods({ bindAddress, serviceClusterIpRange }: ApiAddress): string {
  return process.getuid?.() === 0
    ? advertisedAddress(bindAddress, serviceClusterIpRange)
    : reachableAddress(bindAddress, serviceClusterIpRange);
}

/** Networks by node name: each node but the first has one of its own, where this process may make it. */
async function ownNetworks(
  { names, clusterCidr }: Pick<NodePlan, 'names' | 'clusterCidr'>,
  {
    directory,
    path,
    machineAddress,
  }: { readonly directory: string; readonly path: string; readonly machineAddress: string },
): Promise<ReadonlyMap<string, OwnNetwork>> {
  const machine = machineNetwork(directory, clusterCidr, names.length);
  if (names.length < 2 || process.getuid?.() !== 0 || !machine) return new Map();
  const { openMachineNetwork, openNodeNetwork } = await import('../node/network/network.ts');
  await openMachineNetwork(machine, { machineAddress, path });
  return new Map(
    names.slice(1).map((name, position) => {
      const network = nodeNetwork(machine, position + 1, nodeId(directory, name));
      const open = (podCIDR: string) => openNodeNetwork(machine, network, { podCIDR, path });
      return [name, { ...network, gateway: machineAddress, open }];
    }),
  );
}
