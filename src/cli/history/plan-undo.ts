/** Decides what would undo the last change of an object. Performs nothing. */
import { deepEqual } from '../../base/json/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectEvent } from './object-api.ts';
import { contentOf } from './object-diff.ts';

export type UndoPlan =
  /** The object is written as it was before; `body` has the version that it must still have. */
  | { readonly type: 'update'; readonly body: KubeObject; readonly before: KubeObject; readonly now: KubeObject }
  /** The object was deleted, and is created again. */
  | { readonly type: 'create'; readonly body: object; readonly before: KubeObject }
  | { readonly type: 'nothing'; readonly why: string };

interface ObjectPast {
  /** As it was when history begins; undefined: it did not exist. */
  readonly first: KubeObject | undefined;
  /** What happened since, oldest first. */
  readonly events: readonly ObjectEvent[];
  readonly now: KubeObject | undefined;
}

/**
 * What controllers write to the status is no change here: the last one is that of labels, annotations, the spec or whatever
 * else clients write.
 */
export function planUndo({ first, events, now }: ObjectPast): UndoPlan {
  if (!now) {
    const last = events.at(-1);
    if (last?.type === 'DELETED') return { type: 'create', body: createdAgain(last.object), before: last.object };
    return { type: 'nothing', why: 'it does not exist, and its deletion is not in the history' };
  }
  const own = events.filter(({ object }) => object.metadata.uid === now.metadata.uid).map(({ object }) => object);
  const past = first?.metadata.uid === now.metadata.uid ? [first as KubeObject, ...own] : own;
  const before = past.findLast((each) => !deepEqual(contentOf(each, false), contentOf(now, false)));
  if (before) {
    const { resourceVersion, uid } = now.metadata;
    const body = { ...before, metadata: { ...before.metadata, resourceVersion, uid } } as KubeObject;
    return { type: 'update', body, before, now };
  }
  const isNew = events.some(({ type, object }) => type === 'ADDED' && object.metadata.uid === now.metadata.uid);
  const why = isNew
    ? 'nothing has changed since it was created; to undo the creation, delete it'
    : 'it has not changed since the history begins';
  return { type: 'nothing', why };
}

/** What the server assigns to a new object. */
const ASSIGNED = [
  ...['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'selfLink', 'managedFields'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'],
];

function createdAgain({ metadata, ...object }: KubeObject): object {
  const kept = Object.entries(metadata).filter(([key]) => !ASSIGNED.includes(key));
  const { status: _, ...rest } = object as typeof object & { status?: unknown };
  return { ...rest, metadata: Object.fromEntries(kept) };
}
