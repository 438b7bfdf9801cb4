import type { Kind } from '../../../kinds/kind.ts';
import type { DefinitionMarks } from './definition-marks.ts';
import { SharedObjects } from './shared-objects.ts';

/** What a cache asks about the definitions that wrote its objects. */
export interface Marks extends Pick<DefinitionMarks, 'isCurrent' | 'missing' | 'changed'> {
  /** What was read from bytes that several caches have. */
  readonly shared?: SharedObjects;
}

/** Of all images of this process: forks have the bytes of the cluster that they were made from. */
const SHARED = new SharedObjects();

/**
 * Marks for a store in memory that starts with what this very program wrote: up to that revision, all objects of its built-in
 * kinds are served as they are stored. Custom kinds may have been redefined in between.
 */
export function ownImage(revision: number, kinds: Iterable<Kind>): Marks {
  const builtIn = new Set(kinds);
  return {
    isCurrent: (kind, at) => at <= revision && builtIn.has(kind),
    missing: () => undefined,
    changed: () => undefined,
    shared: SHARED,
  };
}
