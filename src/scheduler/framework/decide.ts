/** Decides which node a pod gets. Changes nothing. */
import type { Random } from '../../base/random.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import { type Diagnosis, unnamed } from './diagnosis.ts';
import { Filters, type Rejected } from './filters.ts';
import type { Plugin } from './plugin.ts';
import { pick, scoresOf, totals } from './ranking.ts';

export type SchedulingDecision =
  | { readonly type: 'node'; readonly node: NodeInfo }
  /** Preemption continues with the filters, after removing other pods. */
  | { readonly type: 'none'; readonly diagnosis: Diagnosis; readonly filters: Filters | undefined };

export interface DecideOptions {
  readonly plugins: readonly Plugin[];
  readonly world: World;
  readonly position: { next: number };
  readonly random: Random;
}

const MIN_FEASIBLE_NODES = 100;
const MIN_FEASIBLE_PERCENT = 5;

/** Returns how many feasible nodes are enough: half of them, and a smaller share in larger clusters. */
export function feasibleNodesToFind(nodes: number): number {
  if (nodes < MIN_FEASIBLE_NODES) return nodes;
  const percent = Math.max(MIN_FEASIBLE_PERCENT, 50 - Math.trunc(nodes / 125));
  return Math.max(MIN_FEASIBLE_NODES, Math.trunc((nodes * percent) / 100));
}

export function decide(pod: PodInfo, options: DecideOptions): SchedulingDecision {
  const { plugins, world } = options;
  const filters = Filters.open(plugins, pod, world);
  if (!(filters instanceof Filters)) {
    return { type: 'none', diagnosis: rejectedEverywhere(world, filters), filters: undefined };
  }
  const nominated = nominatedNode(pod, world, filters);
  if (nominated) return { type: 'node', node: nominated };
  const { fitting, rejected } = search(filters, options);
  if (fitting.length === 0) {
    const diagnosis: Diagnosis = {
      total: world.cluster.nodes.length,
      everywhere: undefined,
      byNode: rejected,
      elsewhere: filters.nodes ? unnamed(filters.narrowedBy) : undefined,
      plugins: new Set([...filters.narrowedBy, ...[...rejected.values()].map(({ plugin }) => plugin)]),
    };
    return { type: 'none', diagnosis, filters };
  }
  return { type: 'node', node: best(pod, fitting, options) };
}

function rejectedEverywhere({ cluster }: World, everywhere: Rejected): Diagnosis {
  const plugins = new Set([everywhere.plugin]);
  return { total: cluster.nodes.length, everywhere, byNode: new Map(), elsewhere: undefined, plugins };
}

/** A nominated node is taken if the pod fits there now. */
function nominatedNode(pod: PodInfo, { cluster }: World, filters: Filters): NodeInfo | undefined {
  const name = pod.pod.status.nominatedNodeName || cluster.nominations.nodeOf(pod.uid);
  if (!name || (filters.nodes && !filters.nodes.has(name))) return undefined;
  const node = cluster.node(name);
  return node && !filters.check(node) ? node : undefined;
}

interface Found {
  readonly fitting: NodeInfo[];
  readonly rejected: Map<NodeInfo, Rejected>;
}

function search(filters: Filters, { world, position }: DecideOptions): Found {
  const nodes = candidates(filters, world);
  const wanted = feasibleNodesToFind(nodes.length);
  const found: Found = { fitting: [], rejected: new Map() };
  let looked = 0;
  let at = nodes.length > 0 ? position.next % nodes.length : 0;
  while (looked < nodes.length && found.fitting.length < wanted) {
    const node = nodes[at]!;
    const rejected = filters.check(node);
    if (rejected) found.rejected.set(node, rejected);
    else found.fitting.push(node);
    looked++;
    at = at + 1 === nodes.length ? 0 : at + 1;
  }
  if (!filters.nodes) position.next = at;
  return found;
}

function candidates({ nodes }: Filters, { cluster }: World): readonly NodeInfo[] {
  if (!nodes) return cluster.nodes;
  return [...nodes].flatMap((name) => cluster.node(name) ?? []);
}

function best(pod: PodInfo, nodes: readonly NodeInfo[], { plugins, world, random }: DecideOptions): NodeInfo {
  if (nodes.length === 1) return nodes[0]!;
  const found = scoresOf(plugins, { pod, world }, nodes);
  return nodes[pick(totals(found, nodes.length), random)]!;
}
