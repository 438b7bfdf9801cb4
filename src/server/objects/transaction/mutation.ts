import type { KubeObject } from '../../../kinds/kind.ts';
import type { DeletePlan } from '../body/delete-options.ts';
import type { Entry } from '../cache/entry.ts';
import type { MaybeAsync } from '../conversion/convert.ts';
import type { UpdatedPart } from '../registry/updated-part.ts';

/** What a transaction does to an object. All objects are in the stored version. */
export type Mutation = Create | Update | Delete;

export interface Create {
  readonly type: 'create';
  /** Makes the object that is asked for. Called for every attempt; the transaction takes the result over. */
  readonly object: () => MaybeAsync<KubeObject>;
  /** Whether the object says itself who manages its fields: it was applied. */
  readonly isApplied?: boolean;
}

export interface Update {
  readonly type: 'update';
  readonly part: UpdatedPart;
  /**
   * Makes the next object from the current one. Called for every attempt; the transaction takes the result over, except for
   * what it shares with `current`. A resourceVersion in it must be that of the current object.
   */
  readonly next: (current: Entry) => MaybeAsync<KubeObject>;
  /** Whether the object says itself who manages its fields: it was applied. */
  readonly isApplied?: boolean;
  /** Whether the spec needs no validation: what is new in it is known to be valid. */
  readonly hasValidSpec?: boolean;
}

export interface Delete {
  readonly type: 'delete';
  /** Default: the name of the call. */
  readonly name?: string;
  readonly plan: DeletePlan;
}
