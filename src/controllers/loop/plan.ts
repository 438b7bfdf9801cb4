/** What a planner may ask for. The loop performs a plan's actions in their order. */
import type { EventSubject, EventType } from '../../client/events/event-recorder.ts';
import type { DeepReadonly, Draft, KindRef } from '../../client/object-types.ts';
import type { DeleteOptions, Patch } from '../../client/request-options.ts';
import type { KubeObject } from '../../kinds/kind.ts';

export type Plan = readonly Action[];

type Sent = Draft<KubeObject>;

export type Action =
  /** Creates that stand together are performed at the same time, in growing batches; the first failure ends them. */
  | { readonly type: 'create'; readonly kind: KindRef; readonly object: Sent; readonly report?: Report }
  /** Carries the object's `resourceVersion`, so that a plan from an old state fails and is made again. */
  | { readonly type: 'update'; readonly kind: KindRef; readonly object: Sent }
  /** Like creates, together where they stand so. */
  | {
      readonly type: 'patch';
      readonly kind: KindRef;
      readonly object: Named;
      readonly subresource?: 'status';
      readonly patch: Patch<any>;
    }
  /** Not written when the status is what it was. */
  | { readonly type: 'updateStatus'; readonly kind: KindRef; readonly object: Sent }
  | {
      readonly type: 'updateSubresource';
      readonly kind: KindRef;
      readonly subresource: string;
      readonly object: Sent;
      readonly report?: Report;
    }
  /** Only the object with this uid. That it is gone already is no failure. Like creates, together where they stand so. */
  | {
      readonly type: 'delete';
      readonly kind: KindRef;
      readonly object: Named;
      readonly options?: DeleteOptions;
      readonly report?: Report;
    }
  /** Those that stand together are all tried, whatever fails. */
  | {
      readonly type: 'deleteCollection';
      readonly kind: KindRef;
      readonly namespace: string;
      readonly options?: DeleteOptions;
    }
  /** Recorded when all actions before it went well. What depends on one action's outcome is its `report`. */
  | ({ readonly type: 'event'; readonly object: EventSubject } & Told)
  /** Plan again after this time, unless something else asks earlier. */
  | { readonly type: 'requeueAfter'; readonly milliseconds: number }
  /** Plan again when something of the kind in the namespace has changed after this version. */
  | {
      readonly type: 'requeueOnChange';
      readonly kind: KindRef;
      readonly namespace: string;
      readonly since: string;
    };

/** What an event says. */
export interface Told {
  readonly eventType: EventType;
  readonly reason: string;
  readonly message: string;
}

/** The events that are recorded of an action, once it is known how it went. */
export interface Report {
  readonly about: EventSubject;
  /** `name`: of the object that was written or deleted. */
  done?(name: string): Told;
  failed?(error: Error): Told;
}

export const told = (eventType: EventType, reason: string, message: string): Told => ({ eventType, reason, message });

/** An object that exists. */
export type Named = DeepReadonly<Pick<KubeObject, 'metadata'>>;

export const create = <T>(kind: KindRef<T>, object: Draft<T>, report?: Report): Action => ({
  type: 'create',
  kind,
  object: object as Sent,
  ...(report ? { report } : {}),
});

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

export const updateSubresource = <T>(kind: KindRef<T>, subresource: string, object: Draft<T>): Action => ({
  type: 'updateSubresource',
  kind,
  subresource,
  object: object as Sent,
});

/** `delete` is a word of the language. */
export const remove = (
  kind: KindRef,
  object: Named,
  { report, ...options }: DeleteOptions & { readonly report?: Report } = {},
): Action => ({
  type: 'delete',
  kind,
  object,
  ...(Object.keys(options).length > 0 ? { options } : {}),
  ...(report ? { report } : {}),
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
  ...told(type, reason, message),
});

export const deleteCollection = (kind: KindRef, namespace: string, options?: DeleteOptions): Action => ({
  type: 'deleteCollection',
  kind,
  namespace,
  ...(options ? { options } : {}),
});

export const requeueAfter = (milliseconds: number): Action => ({ type: 'requeueAfter', milliseconds });

export const requeueOnChange = (kind: KindRef, namespace: string, since: string): Action => ({
  type: 'requeueOnChange',
  kind,
  namespace,
  since,
});
