import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { DefinitionMarks } from './definition-marks.ts';

/** What a cache asks about the definitions that wrote its objects. */
export interface Marks extends Pick<DefinitionMarks, 'isCurrent' | 'missing' | 'changed'> {
  /** The objects that were parsed from stored bytes, by the bytes, where several caches have the same bytes. */
  readonly parsed?: WeakMap<Buffer, KubeObject>;
}

/** Shared by the caches of all images: a test forks one cluster many times. Objects of a cache never change. */
const PARSED = new WeakMap<Buffer, KubeObject>();

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
    parsed: PARSED,
  };
}
