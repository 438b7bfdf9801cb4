import type { Verb } from '../../kinds/kind.ts';
import type { Operation } from '../operation.ts';
import type { Resource } from '../registry.ts';

/** What can be done at a path behind an object's name. */
export interface Subresource {
  readonly name: string;
  /** Whether a kind has it. */
  readonly of: (resource: Resource) => boolean;
  readonly verbs: Partial<Record<Verb, Operation>>;
}

/** A subresource that kinds name in their description. */
export function named(name: string): (resource: Resource) => boolean {
  return ({ kind }) => kind.subresources?.others?.includes(name) ?? false;
}
