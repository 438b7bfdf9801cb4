/** The filters that concern one pod, ready to run on nodes. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { Plugin, Rejection } from './plugin.ts';

export interface Rejected {
  readonly plugin: string;
  readonly rejection: Rejection;
}

interface FilterVerdict {
  readonly plugin: string;
  /** Rejection; undefined when the pod fits. */
  readonly rejection: Rejection | undefined;
  readonly details: readonly string[] | undefined;
}

interface Step {
  readonly plugin: Plugin;
  readonly state: unknown;
}

export class Filters {
  readonly #pod: PodInfo;
  readonly #world: World;
  readonly #steps: readonly Step[];
  readonly #all: readonly Plugin[];
  /** The only nodes to evaluate, and the plugins that restrict them. */
  readonly nodes: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];

  private constructor(all: readonly Plugin[], pod: PodInfo, world: World, opened: Opened) {
    this.#pod = pod;
    this.#world = world;
    this.#all = all;
    this.#steps = opened.steps;
    this.nodes = opened.nodes;
    this.narrowedBy = opened.narrowedBy;
  }

  /** Runs the pre-filters; returns the rejection when no node can take the pod. */
  static open(plugins: readonly Plugin[], pod: PodInfo, world: World): Filters | Rejected {
    const opened = open(plugins, pod, world);
    return 'rejection' in opened ? opened : new Filters(plugins, pod, world, opened);
  }

  /** Checks the node with the pods nominated to it and without them: they are not there yet, and may never be. */
  check(node: NodeInfo): Rejected | undefined {
    const { cluster } = this.#world;
    if (cluster.nominations.isEmpty) return this.#run(node);
    const before = cluster.nominations.before(this.#pod, node.name).filter(({ uid }) => !cluster.nodeOf(uid));
    if (before.length === 0) return this.#run(node);
    for (const pod of before) cluster.assume(pod, node.name);
    try {
      const crowded = this.refreshed();
      const rejected = crowded instanceof Filters ? crowded.#run(node) : crowded;
      if (rejected) return rejected;
    } finally {
      for (const { uid } of before) cluster.remove(uid);
    }
    return this.#run(node);
  }

  /** Runs the pre-filters again after pods were added or removed. */
  refreshed(): Filters | Rejected {
    if (!this.#all.some(({ dependsOnPods }) => dependsOnPods)) return this;
    const opened = open(this.#all, this.#pod, this.#world);
    return 'rejection' in opened ? opened : new Filters(this.#all, this.#pod, this.#world, opened);
  }

  /** Yields the verdict of every filter that concerns the pod, with the numbers behind a rejection. */
  *verdicts(node: NodeInfo): Iterable<FilterVerdict> {
    for (const { plugin, state } of this.#steps) {
      const rejection = plugin.filter?.(this.#pod, node, state);
      yield { plugin: plugin.name, rejection, details: rejection && plugin.explain?.(this.#pod, node, state) };
    }
  }

  #run(node: NodeInfo): Rejected | undefined {
    const steps = this.#steps;
    for (let i = 0; i < steps.length; i++) {
      const { plugin, state } = steps[i]!;
      const rejection = plugin.filter!(this.#pod, node, state);
      if (rejection) return { plugin: plugin.name, rejection };
    }
    return undefined;
  }
}

interface Opened {
  readonly steps: readonly Step[];
  readonly nodes: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];
}

function open(plugins: readonly Plugin[], pod: PodInfo, world: World): Opened | Rejected {
  const steps: Step[] = [];
  const narrowedBy: string[] = [];
  let nodes: ReadonlySet<string> | undefined;
  for (const plugin of plugins) {
    const opening = plugin.preFilter?.(pod, world);
    if (opening?.type === 'reject') return { plugin: plugin.name, rejection: opening.rejection };
    if (opening?.type === 'skip') continue;
    if (plugin.filter) steps.push({ plugin, state: opening?.state });
    if (opening?.nodes) {
      nodes = nodes ? new Set([...nodes].filter((name) => opening.nodes?.has(name))) : opening.nodes;
      narrowedBy.push(plugin.name);
    }
  }
  return { steps, nodes, narrowedBy };
}
