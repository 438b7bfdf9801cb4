/** The contract of a rule of scheduling. Each is one file of `plugins/` and one line of `plugins/all.ts`. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { EventOf, Resource } from './events.ts';

/** Why a pod cannot go to a node, in the words of Kubernetes. */
export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether it could change when other pods leave the node. */
  readonly isCurable: boolean;
}

export function refusal(reason: string, isCurable = false): Refusal {
  return Object.freeze({ reasons: Object.freeze([reason]), isCurable });
}

/** What a plugin says about a pod before any node is looked at. */
export type Opening<F> =
  /** The rule does not concern the pod: its filter is left out. */
  | { readonly type: 'skip' }
  /** The filter runs with this; where nodes are named, only on them. */
  | { readonly type: 'go'; readonly state: F; readonly nodes?: ReadonlySet<string> | undefined }
  /** No node at all can take the pod. */
  | { readonly type: 'refuse'; readonly refusal: Refusal };

export const SKIP: Opening<never> = Object.freeze({ type: 'skip' });

/** What could help a pod that the plugin refused: an event of the resource for which the function says yes. */
export type Hints = { readonly [R in Resource]?: (event: EventOf<R>, pod: PodInfo, world: World) => boolean };

/** All its functions are pure. `F` is what its filter works with, `S` its score. */
export interface Plugin<F = any, S = any> {
  readonly name: string;
  /** Whether the opening has to be made again when a pod comes or goes. */
  readonly dependsOnPods?: boolean;
  readonly preFilter?: (pod: PodInfo, world: World) => Opening<F>;
  /** Undefined: the pod can go there. It runs for thousands of nodes and must not allocate when it says yes. */
  readonly filter?: (pod: PodInfo, node: NodeInfo, state: F) => Refusal | undefined;
  /** How much the score counts among others; absent: the plugin does not score. */
  readonly weight?: number;
  /** Undefined: every node is as good as the other. */
  readonly preScore?: (pod: PodInfo, world: World, nodes: readonly NodeInfo[]) => S | undefined;
  readonly score?: (pod: PodInfo, node: NodeInfo, state: S) => number;
  /** Brings the scores of all nodes into 0 to 100, in place; absent: they are. */
  readonly normalise?: (scores: number[], nodes: readonly NodeInfo[], state: S) => void;
  readonly hints?: Hints;
}
