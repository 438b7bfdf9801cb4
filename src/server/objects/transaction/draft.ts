import type { KubeObject } from '../../../kinds/kind.ts';
import { type Allocations, NO_ALLOCATIONS } from '../allocation/allocation.ts';
import type { DeletePlan } from '../body/delete-options.ts';
import type { SharedSpec } from '../body/spec-interner.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { ObjectKey } from '../cache/keys.ts';
import type { MaybeAsync } from '../conversion/convert.ts';
import type { UpdatedPart } from '../registry/descriptor.ts';
import type { ApiRequest } from '../registry/registry.ts';

const NO_DRAFTS: readonly ObjectDraft[] = Object.freeze([]);

/** An object on its way through a transaction: created by its mutation, changed by the stages, committed or dropped. */
export class ObjectDraft {
  /** The currently stored object; undefined for a new one. */
  readonly old: KubeObject | undefined;
  /** True when the server generated the name from `generateName`. */
  isNameGenerated = false;
  /** True when a new object came with a resourceVersion, which is rejected. */
  isVersioned = false;
  /** Rows of allocated addresses and ports to write with the object. */
  allocated: Allocations['rows'] = NO_ALLOCATIONS.rows;
  /** New IPAddresses to write with the object. */
  addresses: readonly ObjectDraft[] = NO_DRAFTS;
  /** The spec shared with other objects of the same template. */
  shared: SharedSpec | undefined;
  /** True when the kind had no warnings about the object. */
  isQuiet = true;
  /** True when the commit removes the object instead of writing it. */
  isRemoval = false;

  constructor(
    readonly request: ApiRequest,
    readonly mutation: Mutation,
    readonly at: ObjectKey,
    readonly current: Entry | undefined,
    /** The object to store: in the stored version, without resourceVersion and selfLink. */
    public object: KubeObject,
  ) {
    this.old = current?.hub(request.resource.kind);
  }
}

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
