/**
 * The record of a copy, in etcd: `quarterdeck/revisions` says whether the copy is complete, and `quarterdeck/revisions/N` has its
 * revisions in parts, because etcd limits the size of a request.
 */
import { type Store, StoreUnavailable } from '../../store.ts';
import { Numbering, type NumberingContent, type Point } from './numbering.ts';

const KEY = 'quarterdeck/revisions';
const FORMAT = 1;
const POINTS_IN_PART = 10_000;

interface Record {
  readonly format: number;
  readonly state: 'copying' | 'complete';
  readonly oldest?: Point;
  readonly newest?: Point;
  /** How many of the points belong to the oldest state. */
  readonly rows?: number;
  readonly parts?: number;
}

type FlatPoints = readonly number[];

/** Resolves with undefined when nothing was copied into this etcd. */
export async function readNumbering(store: Store): Promise<Numbering | undefined> {
  const record = await readRecord(store);
  if (!record) return undefined;
  const { state, oldest, newest, rows = 0, parts = 0 } = record;
  if (state !== 'complete' || !oldest || !newest) {
    throw new StoreUnavailable(
      'this etcd has an incomplete copy of a cluster: qd store migrate was interrupted, and replaces it when it runs again',
    );
  }
  const points: Point[] = [];
  for (let part = 0; part < parts; part++) {
    const row = await store.get(partKey(part));
    if (!row) throw new StoreUnavailable(`${partKey(part)} is missing in etcd`);
    const flat = JSON.parse(row.value.toString()) as FlatPoints;
    for (let at = 0; at < flat.length; at += 2) points.push({ etcd: flat[at]!, revision: flat[at + 1]! });
  }
  return new Numbering({ oldest, newest, rows: points.slice(0, rows), changes: points.slice(rows) });
}

/** Reports whether a copy was begun and not completed. */
export async function isIncomplete(store: Store): Promise<boolean> {
  return (await readRecord(store))?.state === 'copying';
}

export async function beginRecord(store: Store): Promise<void> {
  await write(store, KEY, { format: FORMAT, state: 'copying' });
}

/** Writes the points of a copy, those of the oldest state first, while it goes on; and completes it. */
export class RecordWriter {
  readonly #store: Store;
  /** Parts that have been written. */
  #parts = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Writes the parts that are full. `points` are all that there are until now. */
  async add(points: readonly Point[]): Promise<void> {
    while (points.length >= (this.#parts + 1) * POINTS_IN_PART) await this.#writePart(points);
  }

  /** The last write to etcd. */
  async complete({ oldest, newest, rows, changes }: NumberingContent): Promise<void> {
    const points = [...rows, ...changes];
    while (points.length > this.#parts * POINTS_IN_PART) await this.#writePart(points);
    const parts = this.#parts;
    await write(this.#store, KEY, { format: FORMAT, state: 'complete', oldest, newest, rows: rows.length, parts });
  }

  async #writePart(points: readonly Point[]): Promise<void> {
    const from = this.#parts * POINTS_IN_PART;
    const part = points.slice(from, from + POINTS_IN_PART);
    await write(
      this.#store,
      partKey(this.#parts),
      part.flatMap(({ etcd, revision }) => [etcd, revision]),
    );
    this.#parts++;
  }
}

async function readRecord(store: Store): Promise<Record | undefined> {
  const row = await store.get(KEY);
  if (!row) return undefined;
  const record = JSON.parse(row.value.toString()) as Record;
  if (record.format === FORMAT) return record;
  throw new StoreUnavailable(
    `the record of revisions in etcd has format ${record.format}, and this qd supports ${FORMAT}: use a newer qd`,
  );
}

const partKey = (part: number) => `${KEY}/${part}`;

async function write(store: Store, key: string, content: Record | FlatPoints): Promise<void> {
  await store.commit([{ key, value: Buffer.from(JSON.stringify(content)) }]);
}
