import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemClock } from '../../base/time/clock.ts';
import { takeLock } from '../up/directory/lock.ts';
import { stopCluster } from './stop.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

test('a process that does not end in time is named and not killed', async () => {
  const lock = await takeLock(directory);
  const sent: unknown[] = [];
  const kill = (...signal: unknown[]) => sent.push(signal);
  const stopping = stopCluster({ directory, timeoutMs: 120, clock: systemClock, kill });
  await expect(stopping).rejects.toThrow(`process ${process.pid} was asked to stop and has not ended within 0.12 s`);
  expect(sent).toEqual([[process.pid, 'SIGTERM']]);
  await lock.release();
});

test('without a running process, no signal is sent', async () => {
  const kill = () => expect.unreachable();
  expect(await stopCluster({ directory, timeoutMs: 100, clock: systemClock, kill })).toBeUndefined();
});
