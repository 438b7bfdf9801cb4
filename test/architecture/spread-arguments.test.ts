/** A list that a client made must not become the arguments of a call: each needs stack space, and a long list is a RangeError. */
import { expect, test } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

const SPREAD =
  /\b(?:push|unshift|Math\.max|Math\.min|fromCharCode|fromCodePoint)\(\s*\.\.\.|\.apply\(\s*(?:null|undefined)\b/g;

test('no list is spread into the arguments of a call', () => {
  const sources = ['src/schema', 'src/kinds', 'src/server'].flatMap(sourcesBelow).filter(({ path }) => !isTest(path));
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap(({ path, code }) => [...code.matchAll(SPREAD)].map(([text]) => `${path}: ${text}`));
  expect(found).toEqual([]);
});
