/**
 * The contract of admission plugins: what a cluster decides about a write beyond whether it is well formed. A plugin fills in
 * what the cluster decides (a service account, a priority) or rejects what it does not allow (more than a quota). What a
 * kind knows by itself (defaults, rules, hooks) is not admission.
 *
 * A transaction runs the plugins that handle its operation, in the order of all.ts, in every attempt:
 *
 * 1. `admit` of each plugin (mutating admission);
 * 2. the kind's hooks and validation, which see what the plugins made of the object;
 * 3. `validate` of each plugin (validating admission), on the object as it would be stored;
 * 4. the commit, under the request's `conditions` and together with its `also`;
 * 5. the callbacks of `onSettled`, whatever the outcome, an error or a conflict included.
 *
 * A plugin may answer at once or with a promise; only a promise is waited for. A plugin that asks a webhook fits as any
 * other: it replaces the object with what the webhook made of it (`replace`), is followed by defaulting, and may ask for a
 * second round of the others (`reinvoke`).
 */
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { SubresourceName } from '../../kinds/subresources.ts';
import type { Condition } from '../../store/store.ts';
import type { CallOptions, User } from '../api.ts';
import type { Entry } from '../cache/entry.ts';
import type { Core } from '../core.ts';
import type { Resource } from '../registry.ts';

/** CONNECT is for subresources that open a stream, such as exec: their options are the object, and nothing is stored. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionPlugin {
  /** The name for `--enable-admission-plugins`. */
  readonly name: string;
  /** Whether the plugin is asked. Called once for each kind, operation and subresource, and remembered. */
  handles(kind: Kind, operation: AdmissionOperation, subresource: SubresourceName | undefined): boolean;
  /**
   * May change `request.object` or replace it. Parts that the object shares with `request.old` must be replaced, not changed.
   * Runs twice in an attempt when a plugin asks for reinvocation, so that running it again must change nothing more.
   */
  admit?(core: Core, request: AdmissionRequest): void | Promise<void>;
  /**
   * Promises that whatever `admit` puts in has all its defaults. After other plugins the object is decoded again by the
   * schema of the stored version, as if a client had sent it, so that defaults are filled in.
   */
  readonly keepsDefaults?: boolean;
  /** May reject the object, by throwing. Must not change it. */
  validate?(core: Core, request: AdmissionRequest): void | Promise<void>;
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly kind: Kind;
  /** The kind in the version of the call. */
  readonly resource: Resource;
  readonly subresource: SubresourceName | undefined;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** Empty in `admit` when the server generates the name. */
  readonly name: string;
  /**
   * In the stored version. For a subresource with a body of its own (Binding, Eviction, TokenRequest) that body; undefined
   * for a delete.
   */
  readonly object: KubeObject | undefined;
  /** What is stored now; undefined for a create. Must not be changed. */
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly options: CallOptions | undefined;
  /** Whether this is the second round of mutating admission. */
  readonly isReinvocation: boolean;
  /** Puts another object in the place of `object`; only in `admit`. */
  replace(object: KubeObject): void;
  /** Asks for one more round of mutating admission after this one; without effect in that second round. */
  reinvoke(): void;
  /** Warns the client, whatever becomes of the request. */
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /**
   * Other objects that are updated in the same commit, or not at all. When one of them has changed since it was read, the
   * transaction starts again, admission included. A dry run ignores them.
   */
  readonly also: AdditionalUpdate[];
  /** Rows that must be at these revisions when the object is committed; otherwise the transaction starts again. */
  readonly conditions: Condition[];
  /** Runs when the attempt is over, whatever its outcome. */
  onSettled(callback: () => void): void;
}

/** An update of another object that is committed with the one that is admitted. It is validated, but not admitted. */
export interface AdditionalUpdate {
  readonly kind: Kind;
  readonly current: Entry;
  readonly part: 'object' | 'status';
  /** The next object, in the stored version; it is taken over. */
  readonly object: KubeObject;
}
