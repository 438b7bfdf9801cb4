import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processIdentity, startAccordingToPs } from './process-identity.ts';

const ways = [
  ['the system', async (pid: number) => (await processIdentity(pid)).started],
  ['ps', startAccordingToPs],
] as const;

test.each(ways)('%s knows when a process started', async (_, startOf) => {
  const started = await startOf(process.pid);
  expect(started).not.toBe('');
  expect(started).not.toBe('unknown');
  expect(await startOf(process.pid)).toBe(started);
  expect(await startOf(1)).not.toBe(started);
});

test.each(ways)('%s knows that a process has ended', async (_, startOf) => {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  expect(await startOf(child.pid!)).toBe('');
});

test.each(ways)('for %s, a zombie has ended', async (_, startOf) => {
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; wait'], { stdio: ['ignore', 'pipe', 2, 'pipe'] });
  try {
    const pid = Number(String((await once(parent.stdout!, 'data'))[0]));
    expect(await startOf(pid)).not.toBe('');
    // A stopped shell does not reap its child, which exits when its input ends.
    parent.kill('SIGSTOP');
    (parent.stdio[3] as NodeJS.WritableStream).end();
    await expect.poll(() => startOf(pid)).toBe('');
    expect(() => process.kill(pid, 0)).not.toThrow();
  } finally {
    parent.kill('SIGKILL');
  }
});
