/** Doing what a plan says. */
import { type ApiError, isApiError } from '../../base/errors.ts';
import { deepEqual } from '../../base/tree.ts';
import type { Client } from '../../client/client.ts';
import type { EventSubject } from '../../client/events/event-recorder.ts';
import type { Lister } from '../../client/informer/object-cache.ts';
import type { Draft, KindRef } from '../../client/object-types.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Action, Named, Report, Told } from './plan.ts';

/** What was written, so that the loop can wait until the cache shows it. */
export type Write =
  | { readonly type: 'version'; readonly kind: KindRef; readonly resourceVersion: string }
  | { readonly type: 'deletion'; readonly kind: KindRef; readonly object: Named };

/** The actions that touch the API. The others are the loop's. */
export type ApiAction = Exclude<Action, { type: 'requeueAfter' | 'requeueOnChange' }>;

/** An action that failed; its cause is the error. */
export class ActionFailure extends Error {
  override readonly cause: Error;

  constructor(
    readonly action: ApiAction,
    cause: Error,
  ) {
    super(cause.message, { cause });
    this.cause = cause;
  }
}

export interface Performer {
  readonly client: Client;
  /** What is known of a kind; undefined when it is not followed. */
  readonly listerOf: (kind: KindRef) => Lister<any> | undefined;
  readonly signal: AbortSignal;
  /** Called after every write. */
  readonly wrote: (write: Write) => void;
  readonly record: (object: EventSubject, told: Told) => void;
}

/**
 * Actions in order; those that may, together. Rejects with the first ActionFailure, or with an AggregateError of several.
 */
export async function performAll(actions: readonly ApiAction[], performer: Performer): Promise<void> {
  for (const group of groups(actions)) {
    const tasks = group.map((action) => () => attempt(action, performer));
    if (group[0]?.type === 'deleteCollection') await together(tasks);
    else await slowStart(tasks);
  }
}

export function isApiAction(action: Action): action is ApiAction {
  return action.type !== 'requeueAfter' && action.type !== 'requeueOnChange';
}

async function attempt(action: ApiAction, performer: Performer): Promise<void> {
  try {
    await perform(action, performer);
  } catch (error) {
    const { signal, record } = performer;
    if (!signal.aborted) tell(action, (report) => report.failed?.(error as Error), record);
    throw new ActionFailure(action, error as Error);
  }
}

function tell(action: ApiAction, words: (report: Report) => Told | undefined, record: Performer['record']): void {
  const report = 'report' in action ? action.report : undefined;
  const said = report && words(report);
  if (said) record(report.about, said);
}

async function perform(action: ApiAction, performer: Performer): Promise<void> {
  const { client, listerOf, signal, wrote, record } = performer;
  if (action.type === 'event') {
    record(action.object, action);
    return;
  }
  const { kind } = action;
  const resource = client.of<KubeObject>(kind);
  const version = (object: { readonly metadata?: { readonly resourceVersion?: string } }) => {
    const { resourceVersion } = object.metadata ?? {};
    if (resourceVersion) wrote({ type: 'version', kind, resourceVersion });
  };
  switch (action.type) {
    case 'create': {
      const created = await resource.create(action.object, { signal }).catch(unlessTerminating);
      if (!created) return;
      version(created);
      tell(action, (report) => report.done?.(created.metadata.name ?? ''), record);
      return;
    }
    case 'update':
      version(await resource.update(action.object, { signal }));
      return;
    case 'patch': {
      const { name = '', namespace } = action.object.metadata;
      const objects = resource.in(namespace);
      version(
        action.subresource === 'status'
          ? await objects.patchStatus(name, action.patch, { signal })
          : await objects.patch(name, action.patch, { signal }),
      );
      return;
    }
    case 'updateStatus':
      if (!isStatusKnown(action.object, listerOf(kind)))
        version(await resource.updateStatus(action.object, { signal }));
      return;
    case 'updateSubresource': {
      const { name = '', namespace } = action.object.metadata ?? {};
      const body = { apiVersion: kind.hub.apiVersion, kind: kind.kind, ...action.object };
      version(await resource.in(namespace).subresource(name, action.subresource).update(body, { signal }));
      tell(action, (report) => report.done?.(name), record);
      return;
    }
    case 'delete': {
      const { name = '', namespace, uid } = action.object.metadata;
      const options = { preconditions: { ...(uid ? { uid } : {}) }, ...action.options, signal };
      const isGone = await resource
        .in(namespace)
        .delete(name, options)
        .then(() => false, whenGone);
      wrote({ type: 'deletion', kind, object: action.object });
      if (!isGone) tell(action, (report) => report.done?.(name), record);
      return;
    }
    case 'deleteCollection':
      await resource.in(action.namespace).deleteCollection({ ...action.options, signal });
      return;
  }
}

/** Annotations count, too: a controller may note something on its object when it writes the status. */
function isStatusKnown(object: Draft<KubeObject>, lister: Lister<any> | undefined): boolean {
  const { name = '', namespace, uid, annotations } = object.metadata ?? {};
  const known = lister?.get(name, namespace);
  if (known === undefined || known.metadata.uid !== uid) return false;
  return deepEqual(known.status, (object as any).status) && deepEqual(known.metadata.annotations, annotations);
}

/** The namespace is on its way out: what was to be created in it has lost its purpose. */
function unlessTerminating(error: ApiError): undefined {
  const causes = isApiError(error, 'Forbidden') ? error.details?.causes : undefined;
  if (causes?.some(({ reason }) => reason === 'NamespaceTerminating')) return undefined;
  throw error;
}

function whenGone(error: unknown): true {
  if (!isApiError(error, 'NotFound')) throw error;
  return true;
}

const TOGETHER: ReadonlySet<Action['type']> = new Set(['create', 'patch', 'delete', 'deleteCollection']);

/** Neighbours of the same type, where that type is performed together; all others alone. */
function groups(plan: readonly ApiAction[]): readonly (readonly ApiAction[])[] {
  const out: ApiAction[][] = [];
  for (const action of plan) {
    const last = out.at(-1);
    if (last && TOGETHER.has(action.type) && last[0]?.type === action.type) last.push(action);
    else out.push([action]);
  }
  return out;
}

type Task = () => Promise<void>;

/** One, two, four, …: when something is wrong with all of them, few find out. */
async function slowStart(tasks: readonly Task[]): Promise<void> {
  for (let start = 0, size = 1; start < tasks.length; start += size, size *= 2) {
    await together(tasks.slice(start, start + size));
  }
}

async function together(tasks: readonly Task[]): Promise<void> {
  const results = await Promise.allSettled(tasks.map((task) => task()));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} actions failed`);
}
