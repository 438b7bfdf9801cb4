import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { anticipateMoves } from './anticipate-moves.ts';

let root: string;
const membership = () => join(root, 'membership');
const processes = (path: string) => join(root, path, 'cgroup.procs');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'qd-moves-'));
  writeFileSync(membership(), '4:cpu,cpuacct:/a:b\n3:memory:/own\n0::/unified\n');
  for (const path of ['own', 'a:b', 'unified']) {
    mkdirSync(join(root, path));
    writeFileSync(processes(path), '');
  }
});
afterEach(() => rmSync(root, { recursive: true }));

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
