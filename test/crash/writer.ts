/**
 * Program that is killed. It writes to a store concurrently and prints, a JSON line each, its requests, their
 * acknowledgements and the changes that its watcher receives. A line is with the reader before the next statement runs,
 * so that the reader knows of every request.
 */
import { writeSync } from 'node:fs';
import { type Store, StoreConflict, type Write } from '../../src/store/index.ts';
import { type Dice, dice } from './random.ts';
import { openStore, type StoreSpec, seenChange, valueWith } from './stores.ts';
import type { Operation, SeenChange } from './verifier.ts';

export type Line =
  | { readonly say: 'ready' }
  | { readonly say: 'issued'; readonly operation: Operation }
  | { readonly say: 'acknowledged'; readonly id: string; readonly revision: number }
  | { readonly say: 'rejected'; readonly id: string }
  | { readonly say: 'told'; readonly changes: readonly SeenChange[] };

const WRITERS = 24;
const OWN_KEYS = 12;
const SHARED_KEYS = 6;

const { spec, round, seed } = JSON.parse(process.argv[2] as string) as { spec: StoreSpec; round: number; seed: number };

const store = await openStore(spec);
const start = await store.revision();
const revisions = new Map((await store.list('')).rows.map((row) => [row.key, row.revision]));
store.watch(start, {
  changes: (batch) => say({ say: 'told', changes: batch.map(seenChange) }),
  closed: (error) => {
    throw error ?? new Error('the watch was closed');
  },
});
say({ say: 'ready' });
await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(store, i, dice(seed + i))));

/**
 * Creates, updates and deletes its own keys without end, two at a time now and then, and some that it shares with other
 * writers.
 */
async function write(target: Store, writer: number, next: Dice): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${round}.${writer}.${n}`;
    const shared = next(6) === 0;
    const first = shared ? `/shared/${next(SHARED_KEYS)}` : `/own/${writer}/${next(OWN_KEYS)}`;
    const second = `/own/${writer}/pair`;
    const keys = !shared && next(5) === 0 ? [first, second] : [first];
    const writes = keys.map((key): Write => {
      const revision = revisions.get(key) ?? 0;
      const value = revision > 0 && next(4) === 0 ? null : valueWith(id, next(3) === 0 ? next(9000) : next(1500));
      // A deletion is never blind: one that finds nothing is acknowledged, and leaves no trace to be checked.
      return value && next(8) === 0 ? { key, value } : { key, value, expect: revision };
    });
    await commit(target, id, writes);
  }
}

async function commit(target: Store, id: string, writes: readonly Write[]): Promise<void> {
  const tokens = writes.map(({ key, value }) => ({ key, token: value && id }));
  say({ say: 'issued', operation: { id, writes: tokens } });
  try {
    const revision = await target.commit(writes);
    say({ say: 'acknowledged', id, revision });
    for (const { key, value } of writes) revisions.set(key, value ? revision : 0);
  } catch (error) {
    // After any other error the outcome is open.
    if (!(error instanceof StoreConflict)) return;
    say({ say: 'rejected', id });
    revisions.set(error.key, error.revision);
  }
}

function say(line: Line): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
