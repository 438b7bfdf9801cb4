/** The nodes that run in the process of the cluster, and how the server reaches them. */
import { basename } from 'node:path';
import type { User } from '../../../api/user.ts';
import { createClient } from '../../../client/client.ts';
import { nodeUser, SIMULATED_NODES } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { endDaemons } from '../../../network/daemon/running.ts';
import { markLeftOutNodes } from '../../../node/simulated/left-out.ts';
import type { SimulatedNodes } from '../../../node/simulated/simulated.ts';
import { connectionByNode } from '../../../server/outbound/nodes/by-node.ts';
import { type NodeConnection, unreachable } from '../../../server/outbound/nodes/connection.ts';
import { type NodeFile, nodesIn } from '../../agent/node-file.ts';
import { describePods } from '../../agent/pod-executor.ts';
import type { Say } from '../../output/steps.ts';
import { daemonDirectory } from '../../process/daemon-command.ts';
import { apiVersion } from '../../version.ts';
import type { NodeDependencies } from './node-dependencies.ts';
import type { StartingNode } from './nodes-ready.ts';
import { hasRealPods, type NodePlan } from './plan-nodes.ts';
import { startRealNodes } from './real-nodes.ts';

interface StartedNodes {
  /** Names of nodes that ran before and do not run now. */
  readonly leftOut: readonly string[];
  /** Those with real pods, whose runtimes come up now. Simulated nodes are what their rules say from the start. */
  readonly starting: readonly StartingNode[];
}

/** Resolves when the nodes are registered. */
export async function startNodes(plan: NodePlan, dependencies: NodeDependencies, say: Say): Promise<StartedNodes> {
  const { server, cleanup, clock, random, log, isShared, remote } = dependencies;
  const { names, clusterCidr, rules } = plan;
  const clientFor = (user: User) => createClient(directTransport(server.direct(user)));
  const clients = { client: clientFor(SIMULATED_NODES), clientOf: (node: string) => clientFor(nodeUser(node)) };
  const simulated = plan.runtime === 'simulated' ? names : [];
  const leftOut = isShared ? [] : await markLeftOutNodes({ ...clients, clock, names: simulated });
  await endOthers(plan, dependencies);
  if (!hasRealPods(plan)) await endDaemons(daemonDirectory(dependencies.directory), clock);
  server.reachNodesBy(remote);
  let starting: readonly StartingNode[] = [];
  if (plan.runtime !== 'simulated') {
    starting = await startRealNodes({ ...plan, runtime: plan.runtime }, dependencies);
  } else if (names.length > 0) {
    const { startSimulatedNodes } = await import('../../../node/simulated/simulated.ts');
    const options = { ...clients, clock, random, log, names, clusterCidr, rules };
    const nodes = await startSimulatedNodes({ ...options, version: apiVersion.gitVersion });
    cleanup.add(() => nodes.stop());
    server.reachNodesBy(connectionByNode((node) => nodes.has(node), { local: simulatedConnection(nodes), remote }));
  }
  say(describe(plan));
  return { leftOut: leftOut.filter((name) => !names.includes(name)), starting };
}

/** Ends what nodes run that are left out, or that had another runtime: pods are not run twice. */
async function endOthers(
  { names, runtime }: NodePlan,
  { directory, clock, random, log }: NodeDependencies,
): Promise<void> {
  const isOther = (node: string, file: NodeFile) => !names.includes(node) || file.runtime !== runtime;
  const nodes = await nodesIn(directory);
  if (!nodes.some((node) => isOther(basename(node.directory), node.file))) return;
  const { endNodes } = await import('../../agent/end-nodes.ts');
  const tools = { clock, random, log, path: process.env.PATH ?? '' };
  const ended = await endNodes({ ...tools, mode: 'remove', dataDirectory: directory, only: isOther });
  log.warn('nodes that are left out, or had another runtime, were ended', { pods: ended });
}

function describe({ runtime, why, names }: NodePlan): string {
  if (names.length === 0) return 'none';
  const which = names.length === 1 ? names[0] : names.length;
  const because = why === undefined ? '' : ` (${why})`;
  switch (runtime) {
    case 'simulated':
      return `${which}, simulated: pods are not really run`;
    case 'containerd':
      return `${which}, containers of containerd${because}`;
    case 'process':
      return `${which}, ${describePods(process.env.PATH ?? '')}${because}`;
  }
}

function simulatedConnection(nodes: SimulatedNodes): NodeConnection {
  return {
    ...unreachable((node) => `node "${node}" is simulated: it runs no processes to connect to`),
    logs: (request) => nodes.logs(request),
    usage: async (node) => nodes.usage(node),
  };
}
