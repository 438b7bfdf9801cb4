/** The actions that a plan consists of. The loop performs them in order. */

import type { DeepReadonly, Draft, KindRef } from '../../api/object-types.ts';
import { deepEqual } from '../../base/json/tree.ts';
import type { EventSubject, EventType } from '../../client/events/event-recorder.ts';
import type { DeleteOptions, Patch } from '../../client/request-options.ts';
import type { KubeObject } from '../../kinds/kind.ts';

export type Plan = readonly Action[];

type Sent = Draft<KubeObject>;

export type Action =
  /** Consecutive creates run concurrently, in growing batches; the first failure stops them. */
  | {
      readonly type: 'create';
      readonly kind: KindRef;
      readonly object: Sent;
      readonly report?: EventReport;
      /** Returns the action that follows, for which the created object has to be known. */
      readonly followedBy?: (created: any) => Action;
    }
  /** Carries the object's `resourceVersion`, so that a plan from an old state fails and is made again. */
  | { readonly type: 'update'; readonly kind: KindRef; readonly object: Sent }
  /** Concurrent like creates. */
  | {
      readonly type: 'patch';
      readonly kind: KindRef;
      readonly object: Named;
      readonly subresource?: 'status';
      readonly patch: Patch<any>;
    }
  /** Skipped when the status is unchanged. */
  | { readonly type: 'updateStatus'; readonly kind: KindRef; readonly object: Sent }
  | {
      readonly type: 'updateSubresource';
      readonly kind: KindRef;
      readonly subresource: string;
      readonly object: Sent;
      readonly report?: EventReport;
    }
  /** Deletes only the object with this UID; success if it is gone already. Concurrent like creates. */
  | {
      readonly type: 'delete';
      readonly kind: KindRef;
      readonly object: Named;
      readonly options?: DeleteOptions;
      readonly report?: EventReport;
    }
  /** Consecutive collections are all tried, even when some fail. */
  | {
      readonly type: 'deleteCollection';
      readonly kind: KindRef;
      readonly namespace: string;
      readonly options?: DeleteOptions;
    }
  /** Recorded when all actions before it succeeded. Events about the outcome of an action belong to its `report`. */
  | ({ readonly type: 'event'; readonly object: EventSubject } & EventContent)
  /** Plans again after this time, unless something wakes the key earlier. */
  | { readonly type: 'requeueAfter'; readonly milliseconds: number }
  /** Plans again when an object of the kind in the namespace changes after this version. */
  | {
      readonly type: 'requeueOnChange';
      readonly kind: KindRef;
      readonly namespace: string;
      readonly since: string;
    };

export interface EventContent {
  readonly eventType: EventType;
  readonly reason: string;
  readonly message: string;
}

/** Events about an action, recorded once its outcome is known. */
export interface EventReport {
  readonly about: EventSubject;
  /** `name`: of the object that was written or deleted. */
  done?(name: string): EventContent;
  failed?(error: Error): EventContent;
}

export const eventContent = (eventType: EventType, reason: string, message: string): EventContent => ({
  eventType,
  reason,
  message,
});

export type Named = DeepReadonly<Pick<KubeObject, 'metadata'>>;

export const create = <T>(kind: KindRef<T>, object: Draft<T>, report?: EventReport): Action => ({
  type: 'create',
  kind,
  object: object as Sent,
  report,
});

export const createFollowed = <T>(
  kind: KindRef<T>,
  object: Draft<T>,
  options: { readonly report?: EventReport; readonly followedBy: (created: DeepReadonly<T>) => Action },
): Action => ({ type: 'create', kind, object: object as Sent, ...options });

export const update = <T>(kind: KindRef<T>, object: Draft<T>): Action => ({
  type: 'update',
  kind,
  object: object as Sent,
});

export const updateStatus = <T>(kind: KindRef<T>, object: Draft<T>): Action => ({
  type: 'updateStatus',
  kind,
  object: object as Sent,
});

/** Writes the status if it differs from that of the object. */
export const changeStatus = (
  kind: KindRef,
  object: Named & { readonly status?: unknown },
  status: unknown,
): Action[] => (deepEqual(status, object.status) ? [] : [updateStatus<any>(kind, { ...object, status })]);

export const updateSubresource = <T>(kind: KindRef<T>, subresource: string, object: Draft<T>): Action => ({
  type: 'updateSubresource',
  kind,
  subresource,
  object: object as Sent,
});

/** Named so because `delete` is a keyword. */
export const remove = (
  kind: KindRef,
  object: Named,
  { report, ...options }: DeleteOptions & { readonly report?: EventReport } = {},
): Action => ({
  type: 'delete',
  kind,
  object,
  options: Object.keys(options).length > 0 ? options : undefined,
  report,
});

export const patch = (kind: KindRef, object: Named, change: Patch<any>): Action => ({
  type: 'patch',
  kind,
  object,
  patch: change,
});

export const patchStatus = (kind: KindRef, object: Named, change: Patch<any>): Action => ({
  type: 'patch',
  kind,
  object,
  subresource: 'status',
  patch: change,
});

export const event = (object: EventSubject, type: EventType, reason: string, message: string): Action => ({
  type: 'event',
  object,
  ...eventContent(type, reason, message),
});

export const deleteCollection = (kind: KindRef, namespace: string, options?: DeleteOptions): Action => ({
  type: 'deleteCollection',
  kind,
  namespace,
  options,
});

export const requeueAfter = (milliseconds: number): Action => ({ type: 'requeueAfter', milliseconds });

export const requeueOnChange = (kind: KindRef, namespace: string, since: string): Action => ({
  type: 'requeueOnChange',
  kind,
  namespace,
  since,
});
