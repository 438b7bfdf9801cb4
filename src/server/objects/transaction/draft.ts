import type { KubeObject } from '../../../kinds/kind.ts';
import { type Allocations, NO_ALLOCATIONS } from '../allocation/allocation.ts';
import type { SharedSpec } from '../body/spec-interner.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { ObjectKey } from '../cache/keys.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import type { Mutation } from './mutation.ts';

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
