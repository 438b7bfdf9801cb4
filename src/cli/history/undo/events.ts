/** The changes of an object as events, as far back as an undo needs them. */
import type { ObjectChange } from '../../../api/past.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { ObjectApi, Selection } from '../object-api.ts';
import type { ObjectEvent, ObjectPast } from './past.ts';

const PAGE_CHANGES = 100;

/** Yields the past of an object, each time reaching further back. */
export async function* pastsOf(objects: ObjectApi, selection: Selection): AsyncGenerator<ObjectPast> {
  const changes: ObjectChange[] = [];
  for (let token: string | undefined; ; ) {
    const filter = { status: false, limit: PAGE_CHANGES, continue: token };
    const { items, metadata } = await objects.changes(selection, filter);
    changes.push(...items);
    // It may have changed meanwhile.
    const [now] = await objects.list(selection);
    yield { ...eventsOf(changes), now };
    token = metadata.continue;
    if (!token) return;
  }
}

/** Converts changes, newest first, to events, oldest first, with the state before the first one. */
export function eventsOf(changes: readonly ObjectChange[]): Pick<ObjectPast, 'first' | 'events'> {
  const oldestFirst = changes.toReversed();
  const first = oldestFirst[0]?.before;
  const events: ObjectEvent[] = [];
  let last = first;
  for (const { type, object, before = last, resourceVersion } of oldestFirst) {
    if (type === 'deleted') {
      if (before) events.push({ type: 'DELETED', object: withVersion(before, resourceVersion) });
    } else if (object) events.push({ type: type === 'created' ? 'ADDED' : 'MODIFIED', object });
    last = object;
  }
  return { first, events };
}

const withVersion = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});
