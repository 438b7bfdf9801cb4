import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { processesWithoutLog } from './lost-processes.ts';
import { descendantsOf } from './running-processes.ts';

let scratch: string;
let directory: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(async () => {
  scratch = temporaryDirectory();
  directory = join(scratch, 'node');
  await mkdir(directory);
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function start(name: string): Promise<number> {
  const log = openSync(join(directory, name), 'a');
  const child = spawn('/bin/sh', ['-c', 'sleep 600 & echo; wait', directory], { stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  children.push(child);
  await once(child.stdout!, 'data');
  return child.pid!;
}

/** Processes of other tests may have lost their directories, too. */
const found = async (name: string) =>
  (await processesWithoutLog(name)).filter((each) => each.directory.startsWith(scratch));

test('a process whose directory was removed is found with its arguments', async () => {
  const pid = await start('own.log');
  expect(await found('own.log')).toEqual([]);
  await rm(directory, { recursive: true });
  const lost = { pid, directory, args: ['/bin/sh', '-c', expect.any(String), directory] };
  expect(await found('own.log')).toEqual([lost, expect.objectContaining({ directory })]);
  expect(await found('other.log')).toEqual([]);
  expect(await descendantsOf([pid])).toHaveLength(1);
});

test('a process is found although there is a new directory of that path', async () => {
  const pid = await start('own.log');
  await rm(directory, { recursive: true });
  await mkdir(directory);
  await writeFile(join(directory, 'own.log'), '');
  expect((await found('own.log')).map((each) => each.pid)).toContain(pid);
});

test('a process whose directory was moved is not lost', async () => {
  await start('own.log');
  await rename(directory, join(scratch, 'moved'));
  expect(await found('own.log')).toEqual([]);
});
