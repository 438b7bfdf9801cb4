import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { usageOfTrees } from './processes.ts';

test('the memory of a small process is measured although the kernel has not added it up yet', async () => {
  const sleeper = spawn('sleep', ['1000']);
  await once(sleeper, 'spawn');
  try {
    await expect.poll(() => usageOfTrees([sleeper.pid!]).get(sleeper.pid!)?.workingSet).toBeGreaterThan(100_000);
  } finally {
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  }
});
