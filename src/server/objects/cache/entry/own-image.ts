import type { Kind } from '../../../../kinds/kind.ts';
import type { DefinitionMarks } from '../definitions/definition-marks.ts';
import { SharedObjects } from './shared-objects.ts';

/** Tells the cache which definitions wrote its objects. */
export interface Marks extends Pick<DefinitionMarks, 'isCurrent' | 'missing' | 'changed'> {
  /** Objects read from bytes that several caches share. */
  readonly shared?: SharedObjects;
}

/** Objects shared by all images of this process: forks have the bytes of the cluster they were made from. */
const SHARED = new SharedObjects();

/**
 * Creates marks for an in-memory store with initial content of this very program: up to that revision, all objects of
 * its built-in kinds are served as stored. Custom kinds may have been redefined in between.
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
