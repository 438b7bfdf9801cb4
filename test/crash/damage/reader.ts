/**
 * Opens damaged stores: one for each line of its standard input, which is a directory. It answers each with a line of
 * JSON. It may be killed by a signal, or never answer: the caller checks for that.
 */
import { createInterface } from 'node:readline';
import { systemClock } from '../../../src/base/time/clock.ts';
import { checkStore } from '../../../src/store/embedded/snapshot.ts';
import { type EmbeddedStore, openEmbeddedStore, StoreDamaged } from '../../../src/store/index.ts';
import { oldestChanges } from '../history.ts';
import { WRITTEN_ROWS } from './written.ts';

/** Content read from a store: everything, except for keys that are named as damaged. */
export interface Reading {
  /** Values by key. */
  readonly rows: Readonly<Record<string, string>>;
  readonly damaged: readonly string[];
  readonly revision: number;
  /** Changes as `revision key value previous`, or why they cannot be read. */
  readonly history: readonly string[] | { readonly rejected: string };
}

interface Readings {
  readonly first: Reading;
  /** Reading after writes, and after all history was discarded. */
  readonly second: Reading;
  /** Reading after the store was opened again. */
  readonly third: Reading;
}

/** Result of a check of the directory before it is opened: damaged keys, or that the file is damaged. */
export type Checked = { readonly damaged: readonly string[] } | { readonly rejected: string };

export type Answer = (Readings | { readonly rejected: string; readonly kind: string }) & { readonly checked: Checked };

for await (const directory of createInterface({ input: process.stdin })) {
  const answer = await examine(directory);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function examine(directory: string): Promise<Answer> {
  const checked = await check(directory);
  const answer = await use(directory).catch((error: Error) => ({ rejected: error.message, kind: error.name }));
  return { ...answer, checked };
}

async function check(directory: string): Promise<Checked> {
  try {
    const { damaged } = await checkStore(directory);
    return { damaged: damaged.flatMap(({ key }) => (key === undefined ? [] : [key])) };
  } catch (error) {
    return { rejected: (error as Error).message };
  }
}

async function use(directory: string): Promise<Readings> {
  let store = await openEmbeddedStore({ directory, clock: systemClock });
  try {
    const first = await read(store);
    for (let i = 0; i < WRITTEN_ROWS; i++) {
      await store.commit([{ key: `/written/${i}`, value: Buffer.from(`written ${i} ${'w'.repeat(i * 100)}`) }]);
    }
    await store.compact(store.revision());
    const second = await read(store);
    await store.close();
    store = await openEmbeddedStore({ directory, clock: systemClock });
    return { first, second, third: await read(store) };
  } finally {
    await store.close();
  }
}

async function read(store: EmbeddedStore): Promise<Reading> {
  const damaged: string[] = [];
  const { rows, revision } = await store.list('', { damaged: ({ key }) => damaged.push(key) });
  for (const { key, value, revision: at } of rows) {
    const row = await store.get(key);
    if (!row?.value.equals(value) || row.revision !== at) throw new Error(`get and list differ for ${key}`);
  }
  for (const key of damaged) {
    const error = await store.get(key).catch((reason) => reason);
    if (!(error instanceof StoreDamaged) || error.key !== key) throw new Error(`the damaged ${key} was read`);
  }
  return {
    rows: Object.fromEntries(rows.map(({ key, value, revision: at }) => [key, `${at} ${value.toString('latin1')}`])),
    damaged,
    revision,
    history: await historyOf(store, revision),
  };
}

async function historyOf(store: EmbeddedStore, revision: number): Promise<Reading['history']> {
  try {
    const { changes } = await oldestChanges(store, 0, revision);
    return changes.map(
      (change) =>
        `${change.revision} ${change.key} ${change.value?.toString('latin1')} after ${change.previous?.revision} ${change.previous?.value.toString('latin1')}`,
    );
  } catch (error) {
    return { rejected: (error as Error).message };
  }
}
