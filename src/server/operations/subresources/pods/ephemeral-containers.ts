import { objectPart } from '../object-part.ts';

/** Adds containers to a running pod, for debugging. The kind preserves everything else. */
export const ephemeralContainers = objectPart('ephemeralcontainers', 'object');
