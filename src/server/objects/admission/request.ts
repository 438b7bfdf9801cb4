/** The admission contract for plugins and transactions, independent of particular plugins and of the server. */
import type { CallOptions } from '../../../api/call.ts';
import { type ApiError, forbidden } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { Condition } from '../../../store/store.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { BodyType } from '../registry/descriptor.ts';
import type { ApiRequest, Resource } from '../registry/registry.ts';

/** The operation. CONNECT opens a stream, as exec does: its options are the object, and nothing is stored. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly kind: Kind;
  /** The kind in the version of the call. */
  readonly resource: Resource;
  readonly subresource: SubresourceName | undefined;
  /** The namespace; empty for cluster-scoped objects. */
  readonly namespace: string;
  /** The name; empty in `admit` when the server generates it. */
  readonly name: string;
  /** The object in the stored version; a subresource's own body (Binding, Eviction); undefined for a delete. */
  readonly object: KubeObject | undefined;
  /** The type of `object` when it is a body that is not stored itself, such as an Eviction. */
  readonly body: BodyType | undefined;
  /** The currently stored object; undefined for a create. Must not be changed. */
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly options: CallOptions | undefined;
  /** True in the second round of mutating admission. */
  readonly isReinvocation: boolean;
  /** Replaces `object`; only in `admit`. */
  replace(object: KubeObject): void;
  /** Requests another round of mutating admission after this one; has no effect in the second round. */
  reinvoke(): void;
  /** Warns the client, regardless of the outcome. */
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /** Other objects to update in the same commit. When one has changed, the transaction is retried with admission. */
  readonly also: AdditionalUpdate[];
  /** Rows that must be at these revisions at commit; otherwise the transaction is retried. */
  readonly conditions: Condition[];
  /** Runs the callback when the attempt is over, whatever its outcome. */
  onSettled(callback: () => void): void;
}

/** An update of another object that is committed with the admitted one. It is validated, but not admitted. */
export interface AdditionalUpdate {
  readonly kind: Kind;
  readonly current: Entry;
  readonly part: 'object' | 'status';
  /** The new object, in the stored version. The plugin gives up ownership. */
  readonly object: KubeObject;
}

export interface AdmissionSubject extends Pick<AdmissionRequest, 'operation' | 'object' | 'old' | 'dryRun'> {
  /** The name; empty when the server generated it. */
  readonly name: string;
  /** The type of the object when it is a body that is not stored itself. */
  readonly body?: BodyType;
}

/** The admission of one request by the plugins that handle it, stage by stage. */
export interface Admission extends AdmissionRequest {
  /** Runs mutating admission; undefined when no plugin is asynchronous. */
  admit(): Promise<void> | undefined;
  /** Runs validating admission; undefined when no plugin is asynchronous. */
  validate(): Promise<void> | undefined;
  /** Ends an attempt, whatever its outcome. */
  settle(): void;
}

export interface AdmissionControl {
  /** Begins the admission of a request; undefined when no plugin handles it. */
  open(request: ApiRequest, subject: AdmissionSubject): Admission | undefined;
  /** Removes fields that plugins added on creation, from a copy of the object. */
  forget(kind: Kind, object: KubeObject): void;
}

/** Creates a 403 with the reason. An object whose name is not generated yet is named by its prefix. */
export function rejected(request: AdmissionRequest, why: string): ApiError {
  return forbidden(request.kind, nameOf(request), why);
}

export function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || object?.metadata.name || 'Unknown';
}
