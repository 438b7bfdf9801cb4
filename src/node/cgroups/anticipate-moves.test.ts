import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { anticipateMoves } from './anticipate-moves.ts';

let root: string;
const membership = () => join(root, 'membership');
const processes = (path: string) => join(root, path, 'cgroup.procs');

beforeEach(() => {
  root = temporaryDirectory();
  writeFileSync(membership(), '4:cpu,cpuacct:/a:b\n3:memory:/own\n0::/unified\n');
  for (const path of ['own', 'a:b', 'unified']) {
    mkdirSync(join(root, path));
    writeFileSync(processes(path), '');
  }
});
it.each([
  ['memory', 'own'],
  ['cpuacct', 'a:b'],
  ['', 'unified'],
])('moves this process to where it is: %s', async (controller, path) => {
  await anticipateMoves(root, controller, membership());
  expect(readFileSync(processes(path), 'utf8')).toBe(String(process.pid));
});

it('does nothing where the kernel says otherwise', async () => {
  await anticipateMoves(root, 'pids', membership());
  await anticipateMoves(root, 'memory', join(root, 'none'));
  rmSync(processes('own'));
  await anticipateMoves(root, 'memory', membership());
  expect(existsSync(processes('own'))).toBe(false);
});
