/** Performs the actions of a plan. */
import { type ApiError, isApiError } from '../../api/errors.ts';
import type { Draft, KindRef } from '../../api/object-types.ts';
import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { deepEqual } from '../../base/json/tree.ts';
import type { Client } from '../../client/client.ts';
import type { EventSubject } from '../../client/events/event-recorder.ts';
import type { Lister } from '../../client/informer/object-cache.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Action, EventContent, EventReport, Named } from './plan.ts';

/** A write, so that the loop can wait until the cache shows it. */
export type Write =
  | { readonly type: 'version'; readonly kind: KindRef; readonly resourceVersion: string }
  | { readonly type: 'deletion'; readonly kind: KindRef; readonly object: Named };

/** Actions that call the API. The others are the loop's. */
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
  /** Returns undefined for a kind without an informer. */
  readonly listerOf: (kind: KindRef) => Lister<any> | undefined;
  readonly signal: AbortSignal;
  readonly onWrite: (write: Write) => void;
  readonly record: (object: EventSubject, eventContent: EventContent) => void;
  /** Starting actions yields to other work by it. */
  readonly budget: TurnBudget;
}

const MAX_CONCURRENT_ACTIONS = 256;

/** Performs actions in order, some concurrently. Rejects with an ActionFailure, or an AggregateError of several. */
export async function performAll(actions: readonly ApiAction[], performer: Performer): Promise<void> {
  for (const group of groups(actions)) {
    if (group[0]?.type === 'deleteCollection') await performEach(group, performer);
    else await slowStart(group, performer);
  }
}

export function isApiAction(action: Action): action is ApiAction {
  return action.type !== 'requeueAfter' && action.type !== 'requeueOnChange';
}

async function attempt(action: ApiAction, performer: Performer): Promise<void> {
  let next: Action | undefined;
  try {
    next = await perform(action, performer);
  } catch (error) {
    const { signal, record } = performer;
    if (!signal.aborted) recordOutcome(action, (report) => report.failed?.(error as Error), record);
    throw new ActionFailure(action, error as Error);
  }
  if (next && isApiAction(next)) await attempt(next, performer);
}

function recordOutcome(
  action: ApiAction,
  contentFor: (report: EventReport) => EventContent | undefined,
  record: Performer['record'],
): void {
  const report = 'report' in action ? action.report : undefined;
  const content = report && contentFor(report);
  if (content) record(report.about, content);
}

/** Drops `managedFields`, which would be half of an update: the server keeps its own if none are sent. */
function withoutManagers(object: Draft<KubeObject>): Draft<KubeObject> {
  const { managedFields, ...metadata } = object.metadata ?? {};
  return managedFields ? { ...object, metadata } : object;
}

/** Resolves with the action that follows, if there is one. */
async function perform(action: ApiAction, performer: Performer): Promise<Action | undefined> {
  const { client, listerOf, signal, onWrite, record } = performer;
  if (action.type === 'event') {
    record(action.object, action);
    return undefined;
  }
  const { kind } = action;
  const resource = client.of<KubeObject>(kind);
  const version = (object: { readonly metadata?: { readonly resourceVersion?: string } }) => {
    const { resourceVersion } = object.metadata ?? {};
    if (resourceVersion) onWrite({ type: 'version', kind, resourceVersion });
  };
  switch (action.type) {
    case 'create': {
      const created = await resource.create(action.object, { signal }).catch(unlessTerminating);
      if (!created) return undefined;
      version(created);
      recordOutcome(action, (report) => report.done?.(created.metadata.name ?? ''), record);
      return action.followedBy?.(created);
    }
    case 'update':
      version(await resource.update(withoutManagers(action.object), { signal }));
      return undefined;
    case 'patch': {
      const { name = '', namespace } = action.object.metadata;
      const objects = resource.in(namespace);
      version(
        action.subresource === 'status'
          ? await objects.patchStatus(name, action.patch, { signal })
          : await objects.patch(name, action.patch, { signal }),
      );
      return undefined;
    }
    case 'updateStatus':
      if (!isStatusKnown(action.object, listerOf(kind)))
        version(await resource.updateStatus(withoutManagers(action.object), { signal }));
      return undefined;
    case 'updateSubresource': {
      const { name = '', namespace } = action.object.metadata ?? {};
      const body = { apiVersion: kind.hub.apiVersion, kind: kind.kind, ...action.object };
      version(await resource.in(namespace).subresource(name, action.subresource).update(body, { signal }));
      recordOutcome(action, (report) => report.done?.(name), record);
      return undefined;
    }
    case 'delete': {
      const { name = '', namespace, uid } = action.object.metadata;
      const options = { preconditions: { uid: uid || undefined }, ...action.options, signal };
      const isGone = await resource
        .in(namespace)
        .delete(name, options)
        .then(() => false, whenGone);
      onWrite({ type: 'deletion', kind, object: action.object });
      if (!isGone) recordOutcome(action, (report) => report.done?.(name), record);
      return undefined;
    }
    case 'deleteCollection':
      await resource.in(action.namespace).deleteCollection({ ...action.options, signal });
      return undefined;
  }
}

/** Annotations count, too: some controllers write them together with the status. */
function isStatusKnown(object: Draft<KubeObject>, lister: Lister<any> | undefined): boolean {
  const { name = '', namespace, uid, annotations } = object.metadata ?? {};
  const known = lister?.get(name, namespace);
  if (known === undefined || known.metadata.uid !== uid) return false;
  return deepEqual(known.status, (object as any).status) && deepEqual(known.metadata.annotations, annotations);
}

/** Creating in a terminating namespace is pointless, and no error. */
function unlessTerminating(error: ApiError): undefined {
  const causes = isApiError(error, 'Forbidden') ? error.details?.causes : undefined;
  if (causes?.some(({ reason }) => reason === 'NamespaceTerminating')) return undefined;
  throw error;
}

function whenGone(error: unknown): true {
  if (!isApiError(error, 'NotFound')) throw error;
  return true;
}

const CONCURRENT_TYPES: ReadonlySet<Action['type']> = new Set(['create', 'patch', 'delete', 'deleteCollection']);

/** Groups consecutive actions of a type that is performed concurrently; all others are alone. */
function groups(plan: readonly ApiAction[]): readonly (readonly ApiAction[])[] {
  const out: ApiAction[][] = [];
  for (const action of plan) {
    const last = out.at(-1);
    if (last && CONCURRENT_TYPES.has(action.type) && last[0]?.type === action.type) last.push(action);
    else out.push([action]);
  }
  return out;
}

/** Batches of one, two, four, …: when all of them would fail, few are tried. */
async function slowStart(actions: readonly ApiAction[], performer: Performer): Promise<void> {
  for (
    let start = 0, size = 1;
    start < actions.length;
    start += size, size = Math.min(2 * size, MAX_CONCURRENT_ACTIONS)
  ) {
    raise(await performConcurrently(actions.slice(start, start + size), performer));
  }
}

/** Performs every action, even when some fail. */
async function performEach(actions: readonly ApiAction[], performer: Performer): Promise<void> {
  const errors: unknown[] = [];
  for (let start = 0; start < actions.length; start += MAX_CONCURRENT_ACTIONS) {
    const batch = actions.slice(start, start + MAX_CONCURRENT_ACTIONS);
    for (const error of await performConcurrently(batch, performer)) errors.push(error);
  }
  raise(errors);
}

/** Resolves with the errors. An action runs without a break until it waits for the store: they start over several turns. */
async function performConcurrently(actions: readonly ApiAction[], performer: Performer): Promise<readonly unknown[]> {
  const { budget } = performer;
  const attempts: Promise<void>[] = [];
  const errors: unknown[] = [];
  for (const action of actions) {
    if (budget.isSpent()) await budget.nextTurn();
    attempts.push(attempt(action, performer).catch((error: unknown) => void errors.push(error)));
  }
  await Promise.all(attempts);
  return errors;
}

function raise(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} actions failed`);
}
