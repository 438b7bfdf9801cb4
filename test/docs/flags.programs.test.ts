/** Requires that the documents and the help describe the existing flags with the same words. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longName } from '../../src/base/flag.ts';
import { upFlags } from '../../src/cli/up/flags.ts';
import { filesBelow, root } from '../architecture/source.ts';
import { runQd } from '../e2e/program.ts';
import { flagsShown, withTables } from './flags-table.ts';

const read = (document: string) => readFileSync(join(root, document), 'utf8');

test.each(filesBelow('docs', '.md'))('the tables of flags in %s are up to date (npm run flags)', (document) => {
  const text = read(document);
  expect(text).toBe(withTables(text));
});

test('operating.md shows every flag of qd up exactly once', () => {
  const shown = flagsShown(read('docs/operating.md')).map(longName);
  expect([...shown].sort()).toEqual(upFlags.map(longName).sort());
});

test('qd up --help shows every flag with the text of its description', async () => {
  const { code, stdout } = await runQd(['up', '--help'], { env: { COLUMNS: '500' } });
  expect(code).toBe(0);
  const lines = stdout.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const missing = upFlags.filter(({ spec, help }) => !lines.some((line) => line.startsWith(`${spec} ${help}`)));
  expect(missing.map(({ spec }) => spec)).toEqual([]);
});

test.each([
  ['a flag that is missing', '| `--log-level LEVEL` '],
  ['another text', 'least severe messages to log'],
  ['another default', 'info, or warn on a terminal'],
])('%s is noticed', (_, part) => {
  const text = read('docs/operating.md');
  const changed = text.replace(part, 'x');
  expect(changed).not.toBe(text);
  expect(withTables(changed)).toBe(text);
});
