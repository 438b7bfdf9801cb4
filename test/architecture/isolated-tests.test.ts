/** Tests share processes: one that changes its own for good needs it alone. */
import { expect, test } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

const CHANGES_PROCESS = /\bprocess\.set(?:[ug]id|groups)\b/;

const changing = [...sourcesBelow('src'), ...sourcesBelow('test')].filter(
  ({ path, code }) => isTest(path) && CHANGES_PROCESS.test(code),
);

test('a test that gives up the rights of its process shares it with no other', () => {
  expect(changing.map(({ path }) => path).filter((path) => !path.endsWith('.isolated.test.ts'))).toEqual([]);
  expect(changing.length).toBeGreaterThan(2);
});
