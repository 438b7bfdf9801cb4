/**
 * Admission: what a cluster says about a write besides whether it is well formed. A plugin fills in what the cluster
 * decides (a service account, a priority) or refuses what it does not allow (more than a quota). One file a plugin;
 * all.ts lists them in their order, chain.ts runs them. What a kind knows by itself (defaults, rules) is not here.
 */
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Condition, Write } from '../../store/store.ts';
import type { CallOptions, User } from '../api.ts';
import type { Core } from '../core.ts';
import type { Resource } from '../registry.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A plugin that answers at once returns nothing: the hot way of a write then waits for nobody. */
export interface AdmissionPlugin {
  /** The name that `--enable-admission-plugins` knows. */
  readonly name: string;
  /** Asked once for each kind, operation and subresource, and remembered. */
  handles(kind: Kind, operation: AdmissionOperation, subresource: string | undefined): boolean;
  /**
   * May change what `request.object` holds, before it is validated. What it puts in is complete: defaults are not filled in
   * again. What the object shares with `request.old` is not to be touched but replaced.
   */
  admit?(core: Core, request: AdmissionRequest): void | Promise<void>;
  /** Sees the object as it would be stored, after its kind found it valid, and may refuse it. */
  validate?(core: Core, request: AdmissionRequest): void | Promise<void>;
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly kind: Kind;
  /** The version that the call speaks. */
  readonly resource: Resource;
  readonly subresource: string | undefined;
  /** Empty for what lives in none. */
  readonly namespace: string;
  /** Empty in admit() where the server makes one up from `generateName`. */
  readonly name: string;
  /** In the stored version's shape; of a subresource with a body of its own (Binding, Eviction) that body. Absent in a delete. */
  readonly object: KubeObject | undefined;
  /** What is stored now; absent in a create. Not to be changed. */
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly options: CallOptions | undefined;
  /** Said to the client beside the reply. */
  warn(text: string): void;
  /** Noted in the audit log beside the request. */
  annotate(key: string, value: string): void;
  /**
   * Writes that are committed with the object or not at all. When one of them conflicts, the request is made anew on the
   * newest state and admitted again.
   */
  readonly also: Write[];
  /** What must be as it was seen when the object is committed; otherwise it is as with a conflict above. */
  readonly conditions: Condition[];
  /** Runs when the write is over, whatever came of it. */
  onSettled(callback: () => void): void;
}
