/** Fills an etcd with what another store can read. */
import { type StoreHistory, StoreNotEmpty } from '../../driver.ts';
import type { Change, Row, Store } from '../../store.ts';
import type { Point } from './numbering.ts';
import { beginRecord, completeRecord, isIncomplete } from './record.ts';

/** Copied revisions of the oldest state in flight: they may be written in any order. */
const MAX_IN_FLIGHT = 64;
/** etcd accepts this many operations in a transaction, unless it is told otherwise. */
const MAX_OPERATIONS = 128;

/** `store` shows etcd's own revisions. */
export async function loadEtcd(store: Store, { oldest, rows, steps }: StoreHistory): Promise<void> {
  if (await isIncomplete(store)) await clear(store);
  const { rows: present } = await store.list('', { limit: 1 });
  if (present[0]) {
    throw new StoreNotEmpty(`this etcd has objects already, such as ${present[0].key}; choose one without any`);
  }
  await beginRecord(store);
  const copied = await copyRows(store, rows);
  const oldestPoint: Point = { etcd: await store.revision(), revision: oldest };
  // Before it there are only parts of the state.
  await store.compact(oldestPoint.etcd);
  const changes: Point[] = [];
  let revision = oldest;
  for await (const step of steps) {
    revision = step.revision;
    if (step.changes.length > 0) changes.push({ etcd: await copyStep(store, step), revision });
  }
  const newest: Point = { etcd: await store.revision(), revision };
  await completeRecord(store, { oldest: oldestPoint, newest, rows: copied, changes });
}

async function copyRows(store: Store, rows: readonly Row[]): Promise<readonly Point[]> {
  const points: Point[] = [];
  const groups = byRevision(rows);
  const work = async () => {
    for (let group = groups.next(); !group.done; group = groups.next()) {
      points.push({ etcd: await copyStep(store, group.value), revision: group.value.revision });
    }
  };
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, work));
  return points;
}

/** The writes of one revision. */
interface Copied {
  readonly revision: number;
  readonly changes: readonly Pick<Change, 'key' | 'value'>[];
}

function* byRevision(rows: readonly Row[]): Generator<Copied, undefined> {
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const { revision } = rows[from]!;
    while (rows[to]?.revision === revision) to++;
    yield { revision, changes: rows.slice(from, to) };
  }
  return undefined;
}

/** Writes one revision, and resolves with that of etcd. */
async function copyStep(store: Store, { revision, changes }: Copied): Promise<number> {
  try {
    return await store.commit(changes.map(({ key, value }) => ({ key, value })));
  } catch (cause) {
    const [first] = changes;
    const what = changes.length === 1 ? first?.key : `${changes.length} objects, among them ${first?.key}`;
    throw new Error(`etcd does not accept ${what}, of revision ${revision}: ${(cause as Error).message}`, { cause });
  }
}

/** Removes what an interrupted copy has left. */
async function clear(store: Store): Promise<void> {
  for (;;) {
    const { rows } = await store.list('', { limit: MAX_OPERATIONS });
    if (rows.length === 0) return;
    await store.commit(rows.map(({ key }) => ({ key, value: null })));
  }
}
