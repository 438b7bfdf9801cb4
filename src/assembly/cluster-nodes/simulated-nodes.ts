/** Simulated nodes in the process of a cluster. */
import type { User } from '../../api/user.ts';
import { type Client, createClient } from '../../client/client.ts';
import { nodeUser, SIMULATED_NODES } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import type { SimulatedNodes, SimulatedNodesOptions } from '../../node/simulated/simulated.ts';
import type { Server } from '../../server/index.ts';
import { type NodeConnection, unreachable } from '../../server/outbound/nodes/connection.ts';
import type { Cleanup } from '../cleanup.ts';
import type { NodeConnections } from '../control-plane/node-connections.ts';

/** Clients with which simulated nodes call a server. */
export function simulationClients(server: Pick<Server, 'direct'>): Pick<SimulatedNodesOptions, 'client' | 'clientOf'> {
  const clientFor = (user: User): Client => createClient(directTransport(server.direct(user)));
  return { client: clientFor(SIMULATED_NODES), clientOf: (node) => clientFor(nodeUser(node)) };
}

export interface SimulationOptions extends Omit<SimulatedNodesOptions, 'client' | 'clientOf'> {
  readonly server: Pick<Server, 'direct'>;
  /** The nodes are added. */
  readonly nodes: NodeConnections;
  readonly cleanup: Cleanup;
}

/** Resolves when the nodes are registered. */
export async function startSimulation({ server, nodes, cleanup, ...options }: SimulationOptions): Promise<void> {
  const { startSimulatedNodes } = await import('../../node/simulated/simulated.ts');
  const simulated = await startSimulatedNodes({ ...options, ...simulationClients(server) });
  cleanup.add(() => simulated.stop());
  nodes.add((node) => simulated.has(node), connectionTo(simulated));
}

function connectionTo(nodes: SimulatedNodes): NodeConnection {
  return {
    ...unreachable((node) => `node "${node}" is simulated: it runs no processes to connect to`),
    logs: (request) => nodes.logs(request),
    usage: async (node) => nodes.usage(node),
  };
}
