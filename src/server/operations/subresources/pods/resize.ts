import { objectPart } from '../object-part.ts';

/**
 * Changes the resources of the containers of a running pod. The kind preserves everything else. The selfLink is that of
 * the pod itself.
 */
export const resize = objectPart('resize', 'object', { keepsLink: true });
