import { objectPart } from '../object-part.ts';

/** Changes the resources of the containers of a running pod. The kind keeps everything else. */
export const resize = objectPart('resize', 'object');
