/** The nodes that run in the process of a cluster. */
import { basename } from 'node:path';
import { endDaemons } from '../../network/daemon/running.ts';
import { markLeftOutNodes } from '../../node/simulated/left-out.ts';
import { type NodeFile, nodesIn } from '../node/node-file.ts';
import { daemonDirectory } from '../threads/daemon-command.ts';
import type { NodePlan } from './node-plan.ts';
import type { StartingNode } from './nodes-ready.ts';
import { type RealNodesOptions, startRealNodes } from './real-nodes.ts';
import { simulationClients, startSimulation } from './simulated-nodes.ts';

export interface StartedNodes {
  /** Names of nodes that ran before and do not run now. */
  readonly leftOut: readonly string[];
  /** Nodes with real pods, whose runtimes come up now. Simulated nodes follow their rules from the start. */
  readonly starting: readonly StartingNode[];
}

/** Resolves when the nodes are registered. */
export async function startNodes(plan: NodePlan, options: RealNodesOptions): Promise<StartedNodes> {
  const { plane, network, cleanup, clock, random, log, isShared, version, directory } = options;
  const { server, nodes } = plane;
  const { names, clusterCidr, rules } = plan;
  const simulated = plan.runtime === 'simulated' ? names : [];
  const leftOut = isShared ? [] : await markLeftOutNodes({ ...simulationClients(server), clock, names: simulated });
  await endOthers(plan, options);
  // One of an earlier start: this one serves no pods.
  if (!network) await endDaemons(daemonDirectory(directory), clock);
  let starting: readonly StartingNode[] = [];
  if (plan.runtime !== 'simulated') {
    const { endLostNodes } = await import('../node/ending/end-lost.ts');
    await endLostNodes({ clock, random, log, path: options.path, dataDirectory: directory });
    starting = await startRealNodes({ ...plan, runtime: plan.runtime }, options);
  } else if (names.length > 0) {
    await startSimulation({ server, nodes, cleanup, clock, random, log, names, clusterCidr, rules, version });
  }
  return { leftOut: leftOut.filter((name) => !names.includes(name)), starting };
}

/** Ends what nodes run that are left out, or that had another runtime: pods are not run twice. */
async function endOthers(
  { names, runtime }: NodePlan,
  { directory, clock, random, log, path }: RealNodesOptions,
): Promise<void> {
  const isOther = (node: string, file: NodeFile) => !names.includes(node) || file.runtime !== runtime;
  const nodes = await nodesIn(directory);
  if (!nodes.some((node) => isOther(basename(node.directory), node.file))) return;
  const { endNodes } = await import('../node/ending/end-nodes.ts');
  const ended = await endNodes({ clock, random, log, path, mode: 'remove', dataDirectory: directory, only: isOther });
  log.warn('nodes that are left out, or had another runtime, were ended', { pods: ended });
}
