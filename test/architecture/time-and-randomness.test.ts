/**
 * Forbids code below cli/ to read the clock, randomness, the environment or the arguments by itself: all of it is
 * passed in.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const FORBIDDEN = [
  /\bDate\.now\b/,
  /\bnew Date\(\s*\)/,
  /(?<!new )(?<![.\w])Date\(\s*\)/,
  /(?<![.\w])(?:setTimeout|setInterval)\b/,
  /\bperformance\.now\b/,
  /\bprocess\.hrtime\b/,
  /\bMath\.random\b/,
  /(?<![.\w])(?:randomUUID|randomBytes|randomInt|getRandomValues)\b/,
  /\bprocess\.(?:env|argv)\b/,
];

/** Files that provide clock and randomness, and the entry of the package of the test clusters. */
const ORIGINS = ['src/base/time/clock.ts', 'src/base/random.ts', 'src/testing/package-entry.ts'];

function reads({ path, code }: Source): string[] {
  return FORBIDDEN.flatMap((pattern) => pattern.exec(code)?.[0] ?? []).map((what) => `${path}: ${what}`);
}

test('time, randomness and the environment are passed in', () => {
  const sources = sourcesBelow('src').filter(
    ({ path }) => !path.startsWith('src/cli/') && !isTest(path) && !ORIGINS.includes(path),
  );
  expect(sources.flatMap(reads)).toEqual([]);
});

test.each([
  ['const t = Date.now();', 1],
  ['const t = new Date();', 1],
  ['const t = new Date(stamp);', 0],
  ['setTimeout(f, 5);', 1],
  ['clock.setTimeout(f);', 0],
  ["import { setImmediate } from 'node:timers/promises';", 0],
  ["import { setTimeout as pause } from 'node:timers/promises';", 1],
  ['// Date.now() is banned', 0],
  ["const help = 'uses Math.random()';", 0],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code under test
  ['const id = `${Math.random()}`;', 1],
  ['const id = random.uuid();', 0],
  ['const home = process.env.HOME;', 1],
])('%s', (text, findings) => {
  expect(reads({ path: 'src/x.ts', ...analyse(text) })).toHaveLength(findings);
});
