import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { lastError, Supervisor, type SupervisorOptions } from './supervisor.ts';

let directory: string;
let supervisor: Supervisor;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'supervisor-'));
});

afterEach(async () => {
  await supervisor.stop();
  await rm(directory, { recursive: true, force: true });
});

const supervise = (command: SupervisorOptions['command'], options: Partial<SupervisorOptions> = {}) => {
  const tools = { clock: systemClock, random: systemRandom, log: silent };
  const logFile = join(directory, 'log');
  supervisor = new Supervisor({ ...tools, command, env: {}, logFile, mayStartAgain: () => true, ...options });
  return supervisor;
};
const ready = async () => undefined;
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a program that dies is started again, until it is stopped', async () => {
  const running = supervise(['/bin/sleep', '600']);
  await running.start(ready);
  const first = running.pid!;
  process.kill(first, 'SIGKILL');
  await expect.poll(() => running.pid !== undefined && running.pid !== first, { timeout: 5_000 }).toBe(true);
  const second = running.pid!;
  await running.stop();
  expect([first, second].map(isAlive)).toEqual([false, false]);
});

test('a program that must not start again does not', async () => {
  let asked = () => {};
  const whenAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const mayStartAgain = () => {
    asked();
    return false;
  };
  const running = supervise(['/bin/sleep', '600'], { mayStartAgain });
  await running.start(ready);
  process.kill(running.pid!, 'SIGKILL');
  await whenAsked;
  await new Promise((resolve) => setImmediate(resolve));
  expect(running.pid).toBeUndefined();
});

test('a start that fails says what the program said last, and nothing of earlier ones', async () => {
  await writeFile(join(directory, 'log'), '{"level":"fatal","msg":"of an earlier start"}\n');
  const never = () => new Promise<void>(() => undefined);
  const command = `echo '{"level":"fatal","msg":"cannot listen","error":"in use"}' >&2; exit 3`;
  await expect(supervise(['/bin/sh', '-c', command]).start(never)).rejects.toThrow(
    'it ended with code 3: cannot listen: in use',
  );
  await expect(supervise(['/bin/sh', '-c', 'exit 4']).start(never)).rejects.toThrow(/^it ended with code 4$/);
  await expect(supervise(['/does/not/exist']).start(never)).rejects.toThrow('ENOENT');
});

test('the last error is found among other lines', () => {
  expect(lastError('{"level":"error","msg":"a"}\n{"level":"warn","msg":"b"}\n')).toBe('a');
  expect(lastError('text\nlast text\n')).toBe('last text');
  expect(lastError('')).toBeUndefined();
});
