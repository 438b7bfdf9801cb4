/**
 * Requires that objects are written through transactions (src/server/objects/transaction/) and nowhere else in the
 * server. Rows that are not objects accompany them, with keys below `/quarterdeck/`.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const TRANSACTIONS = 'src/server/objects/transaction/';

const FORBIDDEN = [
  // A commit to a store, whatever the variable: `store.commit(`, `core.store.commit(`, `this.#store.commit(`.
  /\bstore\.commit\b/,
  // Drafts are made and committed by transactions only.
  /\bcommits\.commit\b/,
  // Objects on their way into the cache.
  /\bcache\.announce\b/,
];

/** A wrapper of a store is a store itself: it defines `commit` and passes it on. */
const WRAPPER = /\bcommit: (?:async )?\(writes\b/;

function writesPast({ path, code }: Source): string[] {
  if (path.startsWith(TRANSACTIONS) || WRAPPER.test(code)) return [];
  return FORBIDDEN.flatMap((pattern) => pattern.exec(code)?.[0] ?? []).map((what) => `${path}: ${what}`);
}

test('nothing in the server commits past the transactions', () => {
  const sources = sourcesBelow('src/server').filter(({ path }) => !isTest(path));
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.flatMap(writesPast)).toEqual([]);
});

test.each([
  ['src/server/access/fairness/x.ts', 'await core.store.commit(writes);', 1],
  ['src/server/objects/cache/x.ts', 'return store.commit([{ key, value }]);', 1],
  ['src/server/operations/verbs/x.ts', 'const { commit } = core.store; this.#store.commit(a)', 1],
  ['src/server/operations/verbs/x.ts', 'core.cache.announce(written);', 1],
  ['src/server/operations/verbs/x.ts', 'await core.commits.commit([draft]);', 1],
  ['src/server/operations/admission/x.ts', 'await core.commits.idle(key);', 0],
  ['src/server/objects/transaction/commit.ts', 'await this.#store.commit(writes);', 0],
  [
    'src/server/serving/metrics/x.ts',
    'return { commit: async (writes, conditions) => store.commit(writes, conditions) };',
    0,
  ],
  ['src/server/access/fairness/x.ts', '// store.commit(writes)', 0],
])('%s with %s', (path, text, findings) => {
  expect(writesPast({ path, ...analyse(text) })).toHaveLength(findings);
});
