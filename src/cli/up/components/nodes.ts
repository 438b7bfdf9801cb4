/** The nodes that run in the process of the cluster, and how the server reaches them. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { createClient } from '../../../client/client.ts';
import { nodeUser, SIMULATED_NODES } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { Rules } from '../../../node/simulated/rules/rules.ts';
import type { SimulatedNodes } from '../../../node/simulated/simulated.ts';
import type { User } from '../../../server/api.ts';
import type { Server } from '../../../server/index.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { apiVersion } from '../../version.ts';
import type { ComponentFlags } from './flags.ts';

type NodeFlags = ClusterFlags & Pick<ComponentFlags, 'runtime' | 'nodes' | 'simulation' | 'clusterCidr'>;

/** The number of nodes to start. Throws when the settings do not go together. */
export function nodeCount({ runtime, nodes, simulation }: Pick<NodeFlags, 'runtime' | 'nodes' | 'simulation'>): number {
  if (runtime === 'simulated') return nodes ?? 1;
  if (nodes) throw new CliError('--nodes needs --runtime simulated');
  if (simulation !== undefined) throw new CliError('--simulation needs --runtime simulated');
  return 0;
}

interface NodeDependencies {
  readonly server: Server;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Each node has 256 addresses. */
const NODES_IN_DEFAULT_CIDR = 256;

/** Resolves when the nodes are registered. Loads what runs nodes only when there are any. */
export async function startNodes(flags: NodeFlags, dependencies: NodeDependencies, say: Say): Promise<void> {
  const { server, cleanup, clock, random, log } = dependencies;
  const count = nodeCount(flags);
  const [{ startSimulatedNodes }, rules] = await Promise.all([
    import('../../../node/simulated/simulated.ts'),
    rulesOf(flags.simulation),
  ]);
  const clusterCidr = flags.clusterCidr ?? (count > NODES_IN_DEFAULT_CIDR ? '10.128.0.0/9' : '10.244.0.0/16');
  const names = Array.from({ length: count }, (_, index) => `${flags.name}-node-${index + 1}`);
  const clientFor = (user: User) => createClient(directTransport(server.direct(user)));
  const nodes = await startSimulatedNodes({
    ...{ clock, random, log, names, clusterCidr, rules, version: apiVersion.gitVersion },
    client: clientFor(SIMULATED_NODES),
    clientOf: (node) => clientFor(nodeUser(node)),
  }).catch((cause: unknown) => {
    if (!(cause instanceof RangeError)) throw cause;
    throw new CliError(`--cluster-cidr: ${cause.message}`, { cause });
  });
  cleanup.add(() => nodes.stop());
  connect(server, nodes);
  say(`${count} simulated`);
}

function connect(server: Server, nodes: SimulatedNodes): void {
  const why = (node: string) =>
    nodes.has(node)
      ? `node "${node}" is simulated: it runs no processes to connect to`
      : `the agent of node "${node}" cannot be reached`;
  server.reachNodesBy({
    logs: (request) => nodes.logs(request),
    usage: async (node) => nodes.usage(node),
    refusal: why,
  });
}

async function rulesOf(file: string | undefined): Promise<Rules> {
  const { NO_RULES, readRules } = await import('../../../node/simulated/rules/read-rules.ts');
  if (file === undefined) return NO_RULES;
  try {
    const { parse } = await import('yaml');
    return readRules(parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new CliError(`--simulation ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
