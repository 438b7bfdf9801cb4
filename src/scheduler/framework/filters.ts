/** The filters that concern one pod, ready to run on nodes. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { Plugin, Refusal } from './plugin.ts';

export interface Refused {
  readonly plugin: string;
  readonly refusal: Refusal;
}

interface FilterVerdict {
  readonly plugin: string;
  /** Refusal; undefined when the pod fits. */
  readonly refusal: Refusal | undefined;
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
  static open(plugins: readonly Plugin[], pod: PodInfo, world: World): Filters | Refused {
    const opened = open(plugins, pod, world);
    return 'refusal' in opened ? opened : new Filters(plugins, pod, world, opened);
  }

  /** Checks the node with the pods nominated to it and without them: they are not there yet, and may never be. */
  check(node: NodeInfo): Refused | undefined {
    const { cluster } = this.#world;
    if (cluster.nominations.isEmpty) return this.#run(node);
    const before = cluster.nominations.before(this.#pod, node.name).filter(({ uid }) => !cluster.nodeOf(uid));
    if (before.length === 0) return this.#run(node);
    for (const pod of before) cluster.assume(pod, node.name);
    try {
      const crowded = this.refreshed();
      const refused = crowded instanceof Filters ? crowded.#run(node) : crowded;
      if (refused) return refused;
    } finally {
      for (const { uid } of before) cluster.remove(uid);
    }
    return this.#run(node);
  }

  /** Runs the pre-filters again after pods were added or removed. */
  refreshed(): Filters | Refused {
    if (!this.#all.some(({ dependsOnPods }) => dependsOnPods)) return this;
    const opened = open(this.#all, this.#pod, this.#world);
    return 'refusal' in opened ? opened : new Filters(this.#all, this.#pod, this.#world, opened);
  }

  /** Yields the verdict of every filter that concerns the pod, with the numbers behind a rejection. */
  *verdicts(node: NodeInfo): Iterable<FilterVerdict> {
    for (const { plugin, state } of this.#steps) {
      const refusal = plugin.filter?.(this.#pod, node, state);
      yield { plugin: plugin.name, refusal, details: refusal && plugin.explain?.(this.#pod, node, state) };
    }
  }

  #run(node: NodeInfo): Refused | undefined {
    const steps = this.#steps;
    for (let i = 0; i < steps.length; i++) {
      const { plugin, state } = steps[i]!;
      const refusal = plugin.filter!(this.#pod, node, state);
      if (refusal) return { plugin: plugin.name, refusal };
    }
    return undefined;
  }
}

interface Opened {
  readonly steps: readonly Step[];
  readonly nodes: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];
}

function open(plugins: readonly Plugin[], pod: PodInfo, world: World): Opened | Refused {
  const steps: Step[] = [];
  const narrowedBy: string[] = [];
  let nodes: ReadonlySet<string> | undefined;
  for (const plugin of plugins) {
    const opening = plugin.preFilter?.(pod, world);
    if (opening?.type === 'refuse') return { plugin: plugin.name, refusal: opening.refusal };
    if (opening?.type === 'skip') continue;
    if (plugin.filter) steps.push({ plugin, state: opening?.state });
    if (opening?.nodes) {
      nodes = nodes ? new Set([...nodes].filter((name) => opening.nodes?.has(name))) : opening.nodes;
      narrowedBy.push(plugin.name);
    }
  }
  return { steps, nodes, narrowedBy };
}
