import type { Kind } from '../../kinds/kind.ts';
import type { DefinitionMarks } from './definition-marks.ts';

/** What a cache asks about the definitions that wrote its objects. */
export type Marks = Pick<DefinitionMarks, 'isCurrent' | 'missing' | 'changed'>;

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
  };
}
