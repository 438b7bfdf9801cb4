import type { KubeObject } from '../../../kinds/kind.ts';
import { type Allocations, NO_ALLOCATIONS } from '../allocation/allocation.ts';
import type { SharedSpec } from '../body/spec-interner.ts';
import type { Entry } from '../cache/entry.ts';
import type { ObjectKey } from '../cache/keys.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import type { Mutation } from './mutation.ts';

const NO_DRAFTS: readonly ObjectDraft[] = Object.freeze([]);

/** One object on its way through a transaction: made by its mutation, changed by the stages, committed or dropped. */
export class ObjectDraft {
  /** What the store holds now; undefined for a new object. */
  readonly old: KubeObject | undefined;
  /** Whether the server made up the name from `generateName`. */
  isNameGenerated = false;
  /** Whether a new object came with a resourceVersion, which is refused. */
  isVersioned = false;
  /** Rows of allocated addresses and ports, which are written with the object. */
  allocated: Allocations['rows'] = NO_ALLOCATIONS.rows;
  /** New IPAddresses, which are written with the object. */
  addresses: readonly ObjectDraft[] = NO_DRAFTS;
  /** The spec that the object shares with others of its template. */
  shared: SharedSpec | undefined;
  /** Whether the kind had no warnings about the object. */
  isQuiet = true;
  /** Whether the commit takes the object away instead of writing it. */
  isRemoval = false;

  constructor(
    readonly request: ApiRequest,
    readonly mutation: Mutation,
    readonly at: ObjectKey,
    readonly current: Entry | undefined,
    /** The object as it will be stored: in the stored version, without resourceVersion and selfLink. */
    public object: KubeObject,
  ) {
    this.old = current?.hub(request.resource.kind);
  }
}
