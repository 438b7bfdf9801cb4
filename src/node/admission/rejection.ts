export type { SeenNode } from '../../api/seen-objects.ts';

/** Why a node does not run a pod, in the words of kubelet. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}
