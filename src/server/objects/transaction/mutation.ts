import type { KubeObject } from '../../../kinds/kind.ts';
import type { DeletePlan } from '../body/delete-options.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { MaybeAsync } from '../conversion/convert.ts';
import type { UpdatedPart } from '../registry/updated-part.ts';

/** The change that a transaction makes to an object. All objects are in the stored version. */
export type Mutation = Create | Update | Delete;

export interface Create {
  readonly type: 'create';
  /** Creates the requested object. Called for every attempt; the transaction takes ownership of the result. */
  readonly object: () => MaybeAsync<KubeObject>;
  /** True when the object contains its own field managers, because it was applied. */
  readonly isApplied?: boolean;
}

export interface Update {
  readonly type: 'update';
  readonly part: UpdatedPart;
  /**
   * Creates the next object from the current one. Called for every attempt; the transaction takes ownership of the
   * result, except for parts shared with `current`. A resourceVersion in it must be that of the current object.
   */
  readonly next: (current: Entry) => MaybeAsync<KubeObject>;
  /** True when the object contains its own field managers, because it was applied. */
  readonly isApplied?: boolean;
  /** True when the spec needs no validation, because its new parts are known to be valid. */
  readonly hasValidSpec?: boolean;
}

export interface Delete {
  readonly type: 'delete';
  /** The name of the object; default: the name in the call. */
  readonly name?: string;
  readonly plan: DeletePlan;
}
