import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longName, propertyOf } from '../../base/flag.ts';
import { upCommand } from './command.ts';
import { upFlags } from './flags.ts';

test('the parser stores a value under the name that its type has', () => {
  const parsed = upCommand().options.map((option) => option.attributeName());
  expect(parsed.sort()).toEqual(upFlags.map(propertyOf).sort());
});

test('every flag is documented', () => {
  const docs = join(import.meta.dirname, '..', '..', '..', 'docs');
  const files = readdirSync(docs).filter((file) => file.endsWith('.md'));
  const text = files.map((file) => readFileSync(join(docs, file), 'utf8')).join('\n');
  const missing = upFlags.map(longName).filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(text));
  expect(missing).toEqual([]);
});
