import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/support/property-runs.ts';
import { watching } from '../../../test/support/store/contract.ts';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { Store, Write } from '../store.ts';
import { openEmbeddedStore } from './open.ts';

const directory = await scratchDirectories();

const key = fc.constantFrom('/a', '/a/b', '/b', '/c', '/d');
const value = fc.option(
  fc.integer({ min: 0, max: 5000 }).map((size) => Buffer.alloc(size, 'v')),
  { nil: null, freq: 3 },
);
const write = fc.record({ key, value, guess: fc.constantFrom('none', 'right', 'wrong') });
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('commits' as const),
      writes: fc.array(fc.uniqueArray(write, { selector: (w) => w.key, maxLength: 3 }), { maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('compact' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
);

it('the embedded store behaves like the memory store, step by step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const options = { directory: directory(), clock: systemClock };
      const model = new MemoryStore(options);
      let store = await openEmbeddedStore(options);
      let oldest = 1;
      for (const each of steps) {
        switch (each.kind) {
          case 'commits': {
            const commits = await Promise.all(each.writes.map((writes) => guessed(model, writes)));
            const [real, expected] = await Promise.all([outcomes(store, commits), outcomes(model, commits)]);
            expect(real).toEqual(expected);
            break;
          }
          case 'compact':
            oldest = Math.max(oldest, Math.round(each.share * model.revision()));
            await Promise.all([store.compact(oldest), model.compact(oldest)]);
            break;
          case 'reopen':
            await store.close();
            store = await openEmbeddedStore(options);
            break;
        }
        expect(store.revision()).toBe(model.revision());
      }
      for (let revision = oldest; revision <= model.revision(); revision++) {
        expect(await store.list('/', { revision })).toEqual(await model.list('/', { revision }));
        expect(await store.list('/a', { revision, after: '/a', limit: 1 })).toEqual(
          await model.list('/a', { revision, after: '/a', limit: 1 }),
        );
      }
      for (const revision of new Set([oldest, Math.min(oldest + 3, model.revision())])) {
        expect(await history(store, revision)).toEqual(await history(model, revision));
      }
      await store.close();
    }),
    { numRuns: propertyRuns(15) },
  );
});

/** Fills in the expected revisions of writes, as far as they are known in advance. */
async function guessed(
  model: Store,
  writes: readonly { key: string; value: Buffer | null; guess: string }[],
): Promise<Write[]> {
  const rows = await Promise.all(writes.map((each) => model.get(each.key)));
  return writes.map(({ guess, ...rest }, i) => {
    const revision = rows[i]?.revision ?? 0;
    if (guess === 'none') return rest;
    return { ...rest, expect: guess === 'right' ? revision : revision + 1 };
  });
}

/** Commits all at once, so that they share a flush. */
async function outcomes(store: Store, commits: readonly Write[][]): Promise<unknown[]> {
  const results = await Promise.allSettled(commits.map((writes) => store.commit(writes)));
  return results.map((result) =>
    result.status === 'fulfilled'
      ? result.value
      : { key: result.reason.key, revision: result.reason.revision, name: result.reason.name },
  );
}

async function history(store: Store, after: number): Promise<unknown[]> {
  const now = await store.revision();
  const watch = watching(store, after);
  if (after < now) await watch.through(now);
  watch.stop();
  // Each store has read the clock for itself.
  return watch.changes.map((change) => ({ ...change, time: undefined }));
}
