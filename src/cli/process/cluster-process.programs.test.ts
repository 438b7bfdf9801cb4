import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { takeLock } from '../up/directory/lock.ts';
import { findClusterProcess, withCluster } from './cluster-process.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryDirectory();
});

test('a command learns the process of a running cluster', async () => {
  const lock = await takeLock(dataDir);
  expect(await withCluster(dataDir, async (pid) => pid)).toBe(process.pid);
  expect((await findClusterProcess(dataDir))?.pid).toBe(process.pid);
  await lock.release();
  expect(await withCluster(dataDir, async (pid) => pid)).toBeUndefined();
  expect(await findClusterProcess(dataDir)).toBeUndefined();
});

test('a command is not taken for a running cluster: it must not get the signals of one', async () => {
  await withCluster(dataDir, async () => {
    expect(await findClusterProcess(dataDir)).toBeUndefined();
    await expect(withCluster(dataDir, async (pid) => pid)).rejects.toThrow(/another qd command, process \d+, works on/);
  });
});

test('an error of the work is passed on, and the directory is free again', async () => {
  await expect(withCluster(dataDir, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await (await takeLock(dataDir)).release();
});

test('neither a process that was killed, nor one that has its id now, nor that of a copied directory is found', async () => {
  const file = join(dataDir, 'lock');
  const lock = await takeLock(dataDir);
  const held = JSON.parse(await readFile(file, 'utf8'));
  const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  for (const change of [{ pid: killed.pid }, { started: '1' }, { boot: 'another' }, { subject: 'another' }]) {
    await writeFile(file, JSON.stringify({ ...held, ...change }));
    expect(await findClusterProcess(dataDir)).toBeUndefined();
  }
  await writeFile(file, JSON.stringify(held));
  expect((await findClusterProcess(dataDir))?.pid).toBe(process.pid);
  const copy = `${dataDir}-copy`;
  await cp(dataDir, copy, { recursive: true });
  expect(await findClusterProcess(copy)).toBeUndefined();
  await rm(copy, { recursive: true });
  await lock.release();
});
