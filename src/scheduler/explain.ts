/** Explains where a pod is scheduled, or why it is not: the verdict of every filter on every node. Changes nothing. */
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { World } from './cluster/world.ts';
import { NO_NODES } from './framework/diagnosis.ts';
import { Filters } from './framework/filters.ts';
import type { Plugin } from './framework/plugin.ts';
import { scoresOf, totals } from './framework/ranking.ts';
import type { WaitingPod } from './queue/waiting-pod.ts';

interface Verdict {
  readonly plugin: string;
  /** Skipped: the filter does not concern the pod. */
  readonly result: 'Passed' | 'Rejected' | 'Skipped';
  readonly reasons?: readonly string[];
  /** The reasons in numbers, where the plugin knows some. */
  readonly details?: readonly string[];
  /** True when removing pods from the node could change the verdict. */
  readonly curable?: boolean;
}

interface Score {
  readonly plugin: string;
  /** Score from 0 to 100. */
  readonly score: number;
  readonly weight: number;
}

export interface NodeVerdict {
  readonly name: string;
  readonly fits: boolean;
  readonly filters: readonly Verdict[];
  /** Scores; absent when the pod does not fit. */
  readonly scores?: readonly Score[];
  readonly total?: number;
}

export interface Explanation {
  /** Node of the pod, assumed or bound. */
  readonly nodeName?: string;
  /** The node that victims of preemption are leaving for it. */
  readonly nominatedNodeName?: string;
  readonly queue?: { readonly state: string; readonly attempts: number; readonly rejectedBy: readonly string[] };
  /** The verdict of a plugin that rejects all nodes together. */
  readonly rejected?: Verdict;
  readonly message: string;
  /** The best first; then those that do not fit, by name. */
  readonly nodes: readonly NodeVerdict[];
}

export interface ExplainOptions {
  readonly plugins: readonly Plugin[];
  readonly world: World;
  readonly waiting: WaitingPod | undefined;
}

/** Explains the decision about a pod. A pod that has a node is evaluated as if it had none. */
export function explain(pod: PodInfo, { plugins, world, waiting }: ExplainOptions): Explanation {
  const { cluster } = world;
  const home = cluster.nodeOf(pod.uid);
  const placed = home?.pods.get(pod.uid);
  const isAssumed = cluster.isAssumed(pod.uid);
  if (home) cluster.remove(pod.uid);
  try {
    return { ...whereabouts(pod, home, world, waiting), ...judged(withoutNode(pod), plugins, world) };
  } finally {
    if (home && placed && isAssumed) cluster.assume(placed, home.name);
    else if (home && placed) cluster.place(placed, home.name);
  }
}

function withoutNode(pod: PodInfo): PodInfo {
  if (!pod.pod.spec.nodeName) return pod;
  const { nodeName: _, ...spec } = pod.pod.spec;
  return new (pod.constructor as typeof PodInfo)({ ...pod.pod, spec });
}

function whereabouts(
  { uid, pod }: PodInfo,
  home: NodeInfo | undefined,
  { cluster }: World,
  waiting: WaitingPod | undefined,
): Partial<Explanation> {
  const nominated = pod.status.nominatedNodeName || cluster.nominations.nodeOf(uid);
  return {
    nodeName: home?.name,
    nominatedNodeName: nominated || undefined,
    queue:
      waiting && !home
        ? { state: waiting.state, attempts: waiting.attempts, rejectedBy: [...waiting.rejectedBy] }
        : undefined,
  };
}

function judged(
  pod: PodInfo,
  plugins: readonly Plugin[],
  world: World,
): Pick<Explanation, 'message' | 'nodes' | 'rejected'> {
  const { nodes } = world.cluster;
  if (nodes.length === 0) return { message: NO_NODES, nodes: [] };
  const filters = Filters.open(plugins, pod, world);
  if (!(filters instanceof Filters)) {
    const { reasons, isResolvable: curable } = filters.rejection;
    const rejected = { plugin: filters.plugin, result: 'Rejected', reasons, curable } as const;
    return { message: `0/${nodes.length} nodes fit: ${reasons.join(', ')}`, rejected, nodes: [] };
  }
  const verdicts = nodes.map((node) => ({ node, filters: verdictsOn(node, filters, plugins) }));
  const fits = ({ filters }: { filters: readonly Verdict[] }) => filters.every(({ result }) => result !== 'Rejected');
  const fitting = verdicts.filter(fits);
  const scored = fitting.map(({ node }) => node);
  const scores = scoresOf(plugins, { pod, world }, scored);
  const sums = totals(scores, scored.length);
  const best = fitting
    .map(({ node, filters }, index) => ({
      name: node.name,
      fits: true,
      filters,
      scores: scores.map((each) => ({ plugin: each.plugin, score: each.scores[index]!, weight: each.weight })),
      total: sums[index]!,
    }))
    .sort((a, b) => b.total - a.total || byName(a, b));
  const others = verdicts
    .filter((each) => !fits(each))
    .map(({ node, filters }) => ({ name: node.name, fits: false, filters }))
    .sort(byName);
  return { message: `${best.length}/${nodes.length} nodes fit`, nodes: [...best, ...others] };
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Runs every filter, also after one has rejected the node. */
function verdictsOn(node: NodeInfo, filters: Filters, plugins: readonly Plugin[]): Verdict[] {
  const said = new Map([...filters.verdicts(node)].map((each) => [each.plugin, each] as const));
  const verdicts = plugins
    .filter(({ filter }) => filter)
    .map(({ name }): Verdict => {
      const verdict = said.get(name);
      if (!verdict) return { plugin: name, result: 'Skipped' };
      const { rejection, details } = verdict;
      if (!rejection) return { plugin: name, result: 'Passed' };
      const { reasons, isResolvable: curable } = rejection;
      return { plugin: name, result: 'Rejected', reasons, details, curable };
    });
  // Resources reserved for a nominated pod of higher priority.
  const kept = verdicts.every(({ result }) => result !== 'Rejected') ? filters.check(node) : undefined;
  if (!kept) return verdicts;
  const { reasons, isResolvable: curable } = kept.rejection;
  return [...verdicts, { plugin: 'NominatedPods', result: 'Rejected', reasons, curable }];
}
