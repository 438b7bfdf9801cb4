import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { LogFile, type LogFileOptions } from './log-file.ts';

let folder: string;
const clock = new ControlledClock('2030-01-01T00:00:00Z');
const DAY = 86_400_000;

beforeEach(() => {
  folder = temporaryDirectory();
});

async function opened(options: Partial<LogFileOptions> = {}): Promise<LogFile> {
  const path = join(folder, 'audit', 'audit.log');
  const file = new LogFile({ path, maxBytes: 100, maxBackups: 0, maxAgeMs: 0, clock, log: silent, ...options });
  await file.open();
  return file;
}

const names = async () => (await readdir(join(folder, 'audit'))).sort();
const content = async (name: string) => readFile(join(folder, 'audit', name), 'utf8');
const line = (text: string) => `${text.padEnd(59)}\n`;

it('writes lines in order, readable by the owner only', async () => {
  const file = await opened();
  for (const each of ['a\n', 'b\n', 'c\n']) file.write(each);
  await file.close();
  expect(await content('audit.log')).toBe('a\nb\nc\n');
  expect((await stat(join(folder, 'audit', 'audit.log'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'audit'))).mode & 0o777).toBe(0o700);
});

it('appends to an existing file, and revokes access of others', async () => {
  await (await opened()).close();
  const path = join(folder, 'audit', 'audit.log');
  await writeFile(path, 'before\n');
  await chmod(path, 0o644);
  const file = await opened();
  file.write('after\n');
  await file.close();
  expect(await content('audit.log')).toBe('before\nafter\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('rotates a full file, with the time in its name', async () => {
  const first = await opened();
  first.write(line('one'));
  await first.close();
  const file = await opened();
  file.write(line('two'));
  await file.close();
  expect(await names()).toEqual(['audit-2030-01-01T00-00-00.000.log', 'audit.log']);
  expect(await content('audit-2030-01-01T00-00-00.000.log')).toBe(line('one'));
  expect(await content('audit.log')).toBe(line('two'));
});

it('keeps rotated files up to the maximum number and age', async () => {
  await (await opened()).close();
  const before = [
    'audit-2029-12-31T00-00-00.000.log',
    'audit-2029-12-30T00-00-00.000.log',
    'audit-2029-11-01T00-00-00.000.log',
  ];
  for (const name of [...before, 'other-2029-11-01T00-00-00.000.log', 'audit-notes.log']) {
    await writeFile(join(folder, 'audit', name), '');
  }
  await (await opened({ maxAgeMs: 30 * DAY })).close();
  expect(await names()).toEqual(
    [before[1], before[0], 'audit-notes.log', 'audit.log', 'other-2029-11-01T00-00-00.000.log'].sort(),
  );
  await (await opened({ maxBackups: 1 })).close();
  expect(await names()).not.toContain(before[1]);
  expect(await names()).toContain(before[0]);
});

it('drops and counts lines when the disk is too slow', async () => {
  const file = await opened({ maxBytes: 2 ** 40 });
  const large = 'x'.repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) file.write(large);
  expect(file.dropped).toEqual({ log: 4 });
  await file.close();
  expect((await content('audit.log')).length).toBe(16 * 1024 * 1024);
});

it('counts lines that could not be written, and logs the failure once', async () => {
  const said: string[] = [];
  const log = { ...silent, error: (message: string) => void said.push(message) };
  const file = await opened({ log, maxBytes: 10 });
  file.write('0123456789');
  await new Promise((resolve) => setImmediate(resolve));
  await file.close();
  await rm(join(folder, 'audit'), { recursive: true });
  file.write('a\n');
  file.write('b\n');
  await file.close();
  file.write('c\n');
  await file.close();
  expect(file.dropped).toEqual({ log: 3 });
  expect(said).toEqual(['the audit log cannot be written']);
});
