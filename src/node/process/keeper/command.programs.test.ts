import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPlainCommand } from './command.ts';

const HERE = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };

test.skipIf(process.platform !== 'linux')('a command has its streams, and says how it ended', async () => {
  const command = ['/bin/sh', '-c', 'read -r line; echo "read $line"; exit 3'];
  const { stdin, stdout, exitCode } = await startPlainCommand(command, HERE, {
    stdin: true,
    stdout: true,
    stderr: false,
  });
  stdin!.end('typed\n');
  expect(await Promise.all([text(stdout!), exitCode])).toEqual(['read typed\n', 3]);
});

test.skipIf(process.platform !== 'linux')(
  'a command that is killed takes what it has started with it',
  { timeout: 30_000 },
  async () => {
    const command = ['/bin/sh', '-c', 'sleep 60 & echo begun; wait'];
    const { stdout, exitCode, kill } = await startPlainCommand(command, HERE, {
      stdin: false,
      stdout: true,
      stderr: false,
    });
    await once(stdout!, 'data');
    kill();
    // Whoever still ran would hold the output open.
    await once(stdout!.resume(), 'end');
    expect(await exitCode).toBe(137);
  },
);

test('a program that does not exist cannot be run', async () => {
  const started = startPlainCommand(['/no/such/program'], HERE, { stdin: false, stdout: true, stderr: false });
  await expect(started).rejects.toMatchObject({ code: 'CannotRun' });
});

test.skipIf(process.platform !== 'linux')('what a command prints is kept until somebody reads it', async () => {
  const command = ['/bin/sh', '-c', 'echo out; echo err >&2'];
  const streams = { stdin: false, stdout: true, stderr: true };
  const { stdout, stderr, exitCode } = await startPlainCommand(command, HERE, streams);
  expect(await exitCode).toBe(0);
  await setImmediate();
  expect(await Promise.all([text(stdout!), text(stderr!)])).toEqual(['out\n', 'err\n']);
});
