import type { Verb } from '../../kinds/kind.ts';
import type { Operation } from '../operation.ts';
import type { Resource } from '../registry.ts';

/** The operations at a path behind an object's name, such as `pods/NAME/log`. */
export interface Subresource {
  readonly name: string;
  /** Whether a resource has it. */
  readonly of: (resource: Resource) => boolean;
  readonly verbs: Partial<Record<Verb, Operation>>;
}

/** For subresources that kinds list in `subresources.others`. */
export function named(name: string): (resource: Resource) => boolean {
  return ({ kind }) => kind.subresources?.others?.includes(name) ?? false;
}
