/** The contract of a scheduler plugin. Each is one file in `plugins/` and one line in `plugins/all.ts`. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { EventOf, Resource } from './events.ts';

/** Why a pod cannot go to a node, in the words of Kubernetes. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** True when removing other pods from the node could change it. */
  readonly isResolvable: boolean;
}

export function rejection(reason: string, isResolvable = false): Rejection {
  return Object.freeze({ reasons: Object.freeze([reason]), isResolvable });
}

/** The result of a pre-filter, before any node is evaluated. */
export type PreFilterResult<F> =
  /** The plugin does not concern the pod: its filter is skipped. */
  | { readonly type: 'skip' }
  /** The filter runs with this state, and only on `nodes` if they are given. */
  | { readonly type: 'go'; readonly state: F; readonly nodes?: ReadonlySet<string> | undefined }
  /** The pod fits on no node. */
  | { readonly type: 'reject'; readonly rejection: Rejection };

export const SKIP: PreFilterResult<never> = Object.freeze({ type: 'skip' });

/** Queueing hints: whether an event of the resource may help a pod that the plugin rejected. */
export type QueueingHints = { readonly [R in Resource]?: (event: EventOf<R>, pod: PodInfo, world: World) => boolean };

/** Contract of a plugin. All functions are pure. `F` is the state of its filter, `S` that of its score. */
export interface Plugin<F = any, S = any> {
  readonly name: string;
  /** True when the pre-filter depends on pods, and must run again when one is added or removed. */
  readonly dependsOnPods?: boolean;
  readonly preFilter?: (pod: PodInfo, world: World) => PreFilterResult<F>;
  /** Returns why the pod does not fit, if so. Runs for thousands of nodes, and must not allocate when it fits. */
  readonly filter?: (pod: PodInfo, node: NodeInfo, state: F) => Rejection | undefined;
  /** Returns the same reasons in numbers, for users who ask; called only for a node that the filter has rejected. */
  readonly explain?: (pod: PodInfo, node: NodeInfo, state: F) => readonly string[];
  /** Weight of the score; absent: the plugin does not score. */
  readonly weight?: number;
  /** Prepares the scores; undefined when all nodes score the same. */
  readonly preScore?: (pod: PodInfo, world: World, nodes: readonly NodeInfo[]) => S | undefined;
  readonly score?: (pod: PodInfo, node: NodeInfo, state: S) => number;
  /** Normalizes the scores of all nodes to 0..100, in place; absent: they are in that range. */
  readonly normalise?: (scores: number[], nodes: readonly NodeInfo[], state: S) => void;
  readonly hints?: QueueingHints;
}
