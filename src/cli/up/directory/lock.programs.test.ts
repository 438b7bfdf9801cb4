import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { takeLock } from './lock.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

test('a second holder is rejected with the process id of the first', async () => {
  const lock = await takeLock(directory);
  await expect(takeLock(directory)).rejects.toThrow(`${directory} is in use by process ${process.pid}`);
  await lock.release();
  await (await takeLock(directory)).release();
  expect(await readdir(directory)).toEqual([]);
});

/** What a holder that is this process would have written. */
async function heldByUs(): Promise<{ pid: number; started: string; directory: string }> {
  const lock = await takeLock(directory);
  const held = JSON.parse(await readFile(join(directory, 'lock'), 'utf8'));
  await lock.release();
  return held;
}

test('the lock of a process that has ended is taken over', async () => {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  await writeFile(join(directory, 'lock'), JSON.stringify({ ...(await heldByUs()), pid: child.pid }));
  expect(await heldByUs()).toMatchObject({ pid: process.pid });
});

test('a process id that another process has now does not hold the lock', async () => {
  await writeFile(join(directory, 'lock'), JSON.stringify({ ...(await heldByUs()), started: '1' }));
  expect((await heldByUs()).started).not.toBe('1');
});

test('a copy of a locked directory is not locked', async () => {
  const lock = await takeLock(directory);
  const copy = `${directory}-copy`;
  await cp(directory, copy, { recursive: true });
  await expect(takeLock(directory)).rejects.toThrow('is in use');
  await expect(takeLock(copy)).resolves.toBeDefined();
  await lock.release();
  await rm(copy, { recursive: true });
});

test('a file that is not a lock is ignored', async () => {
  await writeFile(join(directory, 'lock'), '');
  expect(await heldByUs()).toMatchObject({ pid: process.pid });
});

test('exactly one of many processes takes over a stale lock', async () => {
  await writeFile(join(directory, 'lock'), JSON.stringify({ pid: 2 ** 30 }));
  const script = `
    const { takeLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))});
    try { await takeLock(${JSON.stringify(directory)}); console.log('got'); process.stdin.resume(); }
    catch { console.log('rejected'); }`;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const said = await Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
  for (const child of children) child.kill('SIGKILL');
  expect(said.sort()).toEqual(['got', 'rejected', 'rejected', 'rejected']);
});
