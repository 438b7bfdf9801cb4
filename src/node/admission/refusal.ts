import type { DeepReadonly } from '../../api/object-types.ts';
import type { Node } from '../../kinds/groups/core/node/node.ts';

/** Why a node does not run a pod, in the words of kubelet. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** A node as read from the API. */
export type SeenNode = DeepReadonly<Node>;
