/** Fills an etcd with what another store can read. */
import { type CopyBase, type HistoryStep, type StoreCopy, StoreNotEmpty } from '../../driver.ts';
import type { Change, Row, Store } from '../../store.ts';
import { Numbering, type Point } from './numbering.ts';
import { beginRecord, isIncomplete, RecordWriter } from './record.ts';
import { RenumberedStore } from './renumbered-store.ts';

/** Copied revisions of the oldest state in flight: they may be written in any order. */
const MAX_IN_FLIGHT = 64;
/** etcd accepts this many operations in a transaction, unless it is told otherwise. */
const MAX_OPERATIONS = 128;

/** `store` shows etcd's own revisions. It is closed with the copy. */
export async function beginEtcdCopy(store: Store, { oldest, rows }: CopyBase): Promise<StoreCopy> {
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
  return new EtcdCopy(store, oldestPoint, copied);
}

class EtcdCopy implements StoreCopy {
  readonly #store: Store;
  readonly #oldest: Point;
  readonly #rows: readonly Point[];
  readonly #changes: Point[] = [];
  readonly #record: RecordWriter;
  /** The newest revision that was added, whether it changed something or not. */
  #revision: number;

  constructor(store: Store, oldest: Point, rows: readonly Point[]) {
    this.#store = store;
    this.#oldest = oldest;
    this.#rows = rows;
    this.#revision = oldest.revision;
    this.#record = new RecordWriter(store);
  }

  /** Changes are written one after the other: etcd's revisions follow the order in which it has received them. */
  async add(step: HistoryStep): Promise<void> {
    if (step.changes.length > 0) {
      const point = { etcd: await copyStep(this.#store, step), revision: step.revision };
      this.#changes.push(point);
    }
    this.#revision = step.revision;
  }

  async flush(): Promise<Store> {
    const seen = this.#numbering({
      etcd: this.#changes.at(-1)?.etcd ?? this.#oldest.etcd,
      revision: this.#revision,
    });
    // What is recorded now need not be recorded at the end.
    await this.#record.add([...this.#rows, ...this.#changes]);
    return seen;
  }

  async complete(): Promise<Store> {
    const newest: Point = { etcd: await this.#store.revision(), revision: this.#revision };
    await this.#record.complete({ oldest: this.#oldest, newest, rows: this.#rows, changes: this.#changes });
    return this.#numbering(newest);
  }

  abandon(): Promise<void> {
    return this.#store.close();
  }

  #numbering(newest: Point): Store {
    const content = { oldest: this.#oldest, newest, rows: this.#rows, changes: [...this.#changes] };
    return new RenumberedStore(this.#store, new Numbering(content));
  }
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
  readonly changes: readonly Pick<Change, 'key' | 'value' | 'origin'>[];
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
    const writes = changes.map(({ key, value }) => ({ key, value }));
    return await store.commit(writes, [], changes[0]?.origin);
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
