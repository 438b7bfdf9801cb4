import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { terminationMessage } from './termination.ts';

let folder: string;
beforeEach(async () => {
  folder = temporaryDirectory();
});
async function message(options: { file?: string; log?: string; policy?: string; exitCode?: number; runtime?: string }) {
  const file = join(folder, 'message');
  const logPath = join(folder, 'log');
  if (options.file !== undefined) await writeFile(file, options.file);
  if (options.log !== undefined) await writeFile(logPath, options.log);
  return terminationMessage({
    file,
    record: { exitCode: options.exitCode ?? 1, message: options.runtime ?? '', logPath } as never,
    container: { name: 'c', image: 'i', terminationMessagePolicy: options.policy ?? 'File' } as never,
  });
}

const entries = (lines: readonly string[]) => lines.map((line) => `2030-01-01T00:00:00Z stdout F ${line}\n`).join('');

test('the message is what the container wrote, to the byte', async () => {
  expect(await message({ file: 'why\n' })).toBe('why\n');
  expect(await message({ file: 'x'.repeat(4096) })).toHaveLength(4096);
  expect(await message({ file: 'x'.repeat(5000) })).toHaveLength(4096);
  expect(await message({ file: `${'x'.repeat(4095)}€` })).toBe('x'.repeat(4095));
});

test('without one there is none, unless the policy asks for the log of a failure', async () => {
  const log = entries(['a', 'b']);
  expect(await message({ file: '', log })).toBeUndefined();
  expect(await message({ log, policy: 'FallbackToLogsOnError' })).toBe('a\nb\n');
  expect(await message({ log, policy: 'FallbackToLogsOnError', exitCode: 0 })).toBeUndefined();
  expect(await message({ file: 'own', log, policy: 'FallbackToLogsOnError' })).toBe('own');
});

test('the log is its last 80 lines, and of those the last 2048 bytes', async () => {
  const policy = 'FallbackToLogsOnError';
  const many = Array.from({ length: 100 }, (_, index) => `${index}`);
  expect(await message({ policy, log: entries(many) })).toBe(`${many.slice(20).join('\n')}\n`);
  const long = Array.from({ length: 80 }, () => 'x'.repeat(99));
  expect(await message({ policy, log: entries(long) })).toHaveLength(2048);
  const parts = 'T stdout P ab\nT stderr F cd\nT stdout F e\n';
  expect(await message({ policy, log: parts })).toBe('abcd\ne\n');
});

test('what the runtime says comes last', async () => {
  expect(await message({ runtime: 'no such command' })).toBe('no such command');
  expect(await message({ runtime: 'no such command', file: 'own' })).toBe('own');
});
