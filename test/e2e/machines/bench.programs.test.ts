/** Tests that a measurement on several machines leaves nothing when it is interrupted. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenFile } from '../../../bench/programs.ts';
import { etcdMissing } from '../../support/etcd.ts';

const missing = etcdMissing() ?? (process.getuid?.() === 0 ? undefined : 'machines need root');
if (missing) console.log(`skipped: ${missing}`);

const root = join(import.meta.dirname, '..', '..', '..');
const START_TIMEOUT_MS = 60_000;
/** A network of its own: other tests have machines with the same addresses. */
const ALONE = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const measuring = (directory: string) => `
  const { measureMachines } = await import('./bench/machines.ts');
  const names = { root: '.', directory: ${JSON.stringify(directory)}, template: '', seconds: 1 };
  await measureMachines({ ...names, wanted: (name) => name.startsWith('three'), record() {}, say() {} });
`;

test.skipIf(missing)('an interrupted measurement ends its programs and removes its machines', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qd-bench-'));
  await writeFile(join(folder, 'tokens.csv'), tokenFile);
  const program = ['--import', 'tsx', '--input-type=module', '--eval', measuring(join(folder, 'machines'))];
  const [command = '', ...args] = [...ALONE, process.execPath, ...program];
  // In a session of its own, and the signal goes to one process: a terminal would tell all of them.
  const child = spawn(command, args, { cwd: root, stdio: 'ignore', detached: true });
  const spaces = () => readdirSync('/run/netns').filter((name) => name.startsWith(`qdx${child.pid! % 100_000}`));
  const running = (space: string) =>
    execFileSync('ip', ['netns', 'pids', space], { encoding: 'utf8' }).trim().split(/\s+/).filter(Boolean);
  const isBusy = () =>
    spaces()
      .filter((space) => space.endsWith('s1'))
      .flatMap(running);
  await expect.poll(isBusy, { timeout: START_TIMEOUT_MS }).not.toEqual([]);
  const programs = spaces().flatMap(running);
  process.kill(child.pid!, 'SIGINT');
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(spaces()).toEqual([]);
  await rm(folder, { recursive: true });
  expect(programs.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
});
