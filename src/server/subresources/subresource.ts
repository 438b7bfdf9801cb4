import type { Verb } from '../../kinds/kind.ts';
import type { Call, Reply } from '../api.ts';
import type { Core } from '../core.ts';
import type { Resource } from '../registry.ts';

/** What can be done at a path behind an object's name. */
export interface Subresource {
  readonly name: string;
  /** Whether a kind has it. */
  readonly of: (resource: Resource) => boolean;
  readonly verbs: Partial<Record<Verb, (core: Core, resource: Resource, call: Call) => Promise<Reply>>>;
}

/** A subresource that kinds name in their description. */
export function named(name: string): (resource: Resource) => boolean {
  return ({ kind }) => kind.subresources?.others?.includes(name) ?? false;
}
