import { createHash } from 'node:crypto';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { silent } from '../../../../base/log.ts';
import { takeUpgradeLock, writeRecord } from '../record.ts';
import { packageReceiver } from './package-receiver.ts';

const PARTS = ['first ', 'second ', 'third'].map((text) => Buffer.from(text));
const CONTENT = Buffer.concat(PARTS);
const SHA = createHash('sha256').update(CONTENT).digest('hex');

let directory: string;
const started: string[] = [];
beforeEach(async () => {
  directory = temporaryDirectory();
  started.length = 0;
});

const receiver = (isOn = true) =>
  packageReceiver({
    ...{ directory, isOn, log: silent },
    start: async (file) => void started.push(await readFile(file, 'utf8')),
  });

async function send(port: ReturnType<typeof receiver>, sha256 = SHA, parts = PARTS): Promise<void> {
  let offset = 0;
  for (const content of parts) {
    await port.receive({ sha256, offset, content });
    offset += content.length;
  }
}

test('the upgrade starts with a package that came in parts, and again without sending it', async () => {
  await send(receiver());
  await expect(receiver().start(SHA)).rejects.toThrow('was not sent, or not since this program was started');
  const port = receiver();
  await send(port);
  await port.start(SHA);
  await port.start(SHA);
  expect(started).toEqual([String(CONTENT), String(CONTENT)]);
  expect(await readdir(directory)).toEqual(['upgrade.tgz']);
});

test('parts must follow each other, and belong to one package', async () => {
  const port = receiver();
  const [first, second, third] = PARTS as [Buffer, Buffer, Buffer];
  await expect(port.receive({ sha256: SHA, offset: 6, content: second })).rejects.toMatchObject({ reason: 'Conflict' });
  await port.receive({ sha256: SHA, offset: 0, content: first });
  const gap = first.length + second.length;
  await expect(port.receive({ sha256: SHA, offset: gap, content: third })).rejects.toThrow(
    'expected the bytes from 6 on',
  );
  const other = { sha256: 'b'.repeat(64), offset: first.length, content: second };
  await expect(port.receive(other)).rejects.toMatchObject({ reason: 'Conflict' });
  await send(port);
  await port.start(SHA);
  expect(started).toEqual([String(CONTENT)]);
});

test('parts of two clients at the same time are not mixed', async () => {
  const port = receiver();
  const [first, second] = PARTS as [Buffer, Buffer, Buffer];
  const begin = { sha256: SHA, offset: 0, content: first };
  const goOn = { sha256: SHA, offset: first.length, content: second };
  const outcomes = await Promise.allSettled([begin, begin, goOn, goOn].map((part) => port.receive(part)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
});

test('a package with another content than was announced is not started', async () => {
  const port = receiver();
  await send(port, 'b'.repeat(64));
  await expect(port.start('b'.repeat(64))).rejects.toThrow(`the SHA-256 of the package is ${SHA}`);
  const cut = receiver();
  await send(cut);
  await truncate(join(directory, 'upgrade.part'), 3);
  await expect(cut.start(SHA)).rejects.toMatchObject({ reason: 'BadRequest' });
  expect(started).toEqual([]);
});

test('a package that is too large is not kept', async () => {
  const port = receiver();
  await port.receive({ sha256: SHA, offset: 0, content: CONTENT });
  const content = Buffer.alloc(300 * 1024 * 1024);
  await expect(port.receive({ sha256: SHA, offset: CONTENT.length, content })).rejects.toMatchObject({ code: 413 });
  expect(await readdir(directory)).toEqual([]);
});

test('a machine that takes no packages says so, and what it runs', async () => {
  const port = receiver(false);
  await expect(send(port)).rejects.toMatchObject({ reason: 'Forbidden' });
  await expect(port.start(SHA)).rejects.toMatchObject({ reason: 'Forbidden' });
  expect(await port.report()).toMatchObject({ accepts: 'off', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(await readdir(directory)).toEqual([]);
});

test('the report has the last upgrade, which has failed when its process was killed', async () => {
  const port = receiver();
  expect(await port.report()).not.toHaveProperty('last');
  const record = { package: SHA, from: '0.1.0', to: '0.2.0', state: 'running', message: 'Stopping it.' } as const;
  const lock = await takeUpgradeLock(directory);
  await writeRecord(directory, record);
  expect((await port.report()).last).toEqual(record);
  await expect(takeUpgradeLock(directory)).rejects.toThrow(`another upgrade of ${directory} goes on`);
  await lock.release();
  expect((await port.report()).last).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('Stopping it.'),
  });
  await writeRecord(directory, { ...record, state: 'succeeded' });
  expect((await port.report()).last?.state).toBe('succeeded');
});
