import { objectPart } from '../object-part.ts';

/** Changes the resources of the containers of a running pod. The kind keeps everything else. The pod is the same as that of other paths. */
export const resize = objectPart('resize', 'object', { keepsLink: true });
