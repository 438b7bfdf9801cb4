import type { Kind, Verb } from '../../../kinds/kind.ts';
import type { Operation } from '../ports.ts';

/** A kind whose objects are never stored. */
export interface VirtualResource {
  readonly kind: Kind;
  readonly operations: Readonly<Partial<Record<Verb, Operation>>>;
}
