/** What admission plugins and transactions know of an admission. Neither the plugins nor the server are named here. */

import type { CallOptions } from '../../../api/call.ts';
import type { User } from '../../../api/user.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { Condition } from '../../../store/store.ts';
import type { Entry } from '../cache/entry.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import type { BodyType } from '../registry/descriptor.ts';
import type { Resource } from '../registry/registry.ts';

/** CONNECT is for subresources that open a stream, such as exec: their options are the object, and nothing is stored. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

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
  /** What `object` is, where it is a body that is not stored itself, such as an Eviction. */
  readonly body: BodyType | undefined;
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

/** What is admitted. */
export interface AdmissionSubject {
  readonly operation: AdmissionOperation;
  /** Empty when the server generated it. */
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
  /** What the object is, where it is a body that is not stored itself. */
  readonly body?: BodyType;
}

/** The admission of one request: the plugins that handle it, asked stage by stage. */
export interface Admission extends AdmissionRequest {
  /** Runs mutating admission; undefined when no plugin has to be waited for. */
  admit(): Promise<void> | undefined;
  /** Runs validating admission; undefined when no plugin has to be waited for. */
  validate(): Promise<void> | undefined;
  /** Ends an attempt, whatever its outcome. */
  settle(): void;
}

/** Begins admissions. */
export interface AdmissionControl {
  /** Begins the admission of a request; undefined when no plugin handles it. */
  open(request: ApiRequest, subject: AdmissionSubject): Admission | undefined;
  /** Removes what plugins put into an object when it was created, from a copy of it. */
  forget(kind: Kind, object: KubeObject): void;
}
