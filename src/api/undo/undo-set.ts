/** The request to undo a set of changes (POST /history/undo), and its answer. */

export interface UndoRequest {
  /** The moment to go back to: a time such as 2030-01-01T12:00:00Z, or a resourceVersion. */
  readonly since: string;
  /** The end of the set; default: now. */
  readonly until?: string | undefined;
  /** Only changes in this namespace; default: all. */
  readonly namespace?: string | undefined;
  /** Only changes by this user, with the deletions that followed from them; default: everybody but components of the cluster. */
  readonly user?: string | undefined;
  /** True to plan, and to check the plan, without performing it. */
  readonly dryRun?: boolean | undefined;
  /** True to overwrite later changes of others. */
  readonly force?: boolean | undefined;
}

/** `leave`: a controller makes the object again, or nothing can be done. `conflict`: the undo is not complete, see `reason`. */
export type UndoAction = 'create' | 'update' | 'delete' | 'leave' | 'conflict';

export interface UndoItem {
  readonly action: UndoAction;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Who made the changes. */
  readonly users: readonly string[];
  /** Why the object is left as it is. */
  readonly reason?: string | undefined;
  /** The content that an update replaces, and the one that it brings back. */
  readonly now?: object | undefined;
  readonly before?: object | undefined;
}

export interface UndoAnswer {
  readonly kind: 'UndoPlan';
  readonly apiVersion: 'v1';
  readonly metadata: {
    /** The end of the set, to be used as `until` by the request that performs this plan. */
    readonly resourceVersion: string;
  };
  readonly dryRun: boolean;
  /** In the order in which they are written. */
  readonly items: readonly UndoItem[];
  /** Number of changed objects that the user may not read, which are left as they are. */
  readonly hidden: number;
}
