import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../architecture/source.ts';
import { LONG_FILES } from './long-files.ts';

test('files that are started first exist, and are listed once', () => {
  expect(LONG_FILES.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length);
});
