import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pauseProgram } from './pause-program.ts';

let directory: string;
let program: string;
const started: ChildProcess[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'qd-pause-'));
  program = join(directory, 'pause');
  writeFileSync(program, pauseProgram(process.arch));
  chmodSync(program, 0o755);
});
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function start(command: string, args: string[] = []): ChildProcess {
  const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  started.push(child);
  return child;
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
/** Waits until the program runs and sleeps: then it waits for signals. */
const isWaiting = (pid: number) =>
  vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/^\d+ \(pause\) S /), 30_000);

test.each(['SIGTERM', 'SIGINT'] as const)('ends with %s', async (signal) => {
  const child = start(program);
  await isWaiting(child.pid!);
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('dies of other signals', async () => {
  const child = start(program);
  await isWaiting(child.pid!);
  child.kill('SIGUSR1');
  expect(await once(child, 'exit')).toEqual([null, 'SIGUSR1']);
});

/** Making a PID namespace needs root. */
test.skipIf(process.getuid?.() !== 0)('the program as PID 1 ends with SIGTERM, and reaps orphans', async () => {
  const unshare = start('unshare', ['--pid', '--fork', '--kill-child', program]);
  const pid = await vi.waitFor(() => {
    const [child] = childrenOf(unshare.pid!);
    expect(child).toBeDefined();
    return child!;
  }, 30_000);
  await isWaiting(pid);
  // The shell ends at once, and leaves a process that ends only when it is killed: Node closes the pipes of a process that exits.
  const shell = start('nsenter', ['--target', String(pid), '--pid', 'sh', '-c', '(sleep infinity &)']);
  expect(await once(shell, 'exit')).toEqual([0, null]);
  const [orphan] = childrenOf(pid);
  expect(orphan).toBeDefined();
  process.kill(orphan!, 'SIGKILL');
  await vi.waitFor(() => expect(childrenOf(pid)).toEqual([]), 30_000);
  process.kill(pid, 'SIGTERM');
  expect(await once(unshare, 'exit')).toEqual([0, null]);
});
