import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { MIN_WINDOW_BYTES, PROGRESS_WINDOW_MS, PullProgress } from './pull-progress.ts';

test('a pull goes on as long as every window brings enough', async () => {
  const clock = new ControlledClock();
  const progress = new PullProgress(clock);
  for (let window = 0; window < 100; window++) {
    for (let part = 0; part < 4; part++) progress.add(MIN_WINDOW_BYTES / 4);
    await clock.advance(PROGRESS_WINDOW_MS);
    expect(progress.signal.aborted).toBe(false);
  }
  progress.add(MIN_WINDOW_BYTES - 1);
  await clock.advance(PROGRESS_WINDOW_MS);
  expect(progress.signal.reason).toMatchObject({
    code: 'RegistryUnavailable',
    message: 'the registry sent 262143 bytes of the image in 5 minutes, and at least 262144 are expected',
  });
});

test('much at once does not count for later', async () => {
  const clock = new ControlledClock();
  const progress = new PullProgress(clock);
  progress.add(MIN_WINDOW_BYTES * 1000);
  await clock.advance(PROGRESS_WINDOW_MS * 2);
  expect(progress.signal.aborted).toBe(true);
});

test('a pull that has ended is not given up', async () => {
  const clock = new ControlledClock();
  const progress = new PullProgress(clock);
  progress.end();
  await clock.advance(PROGRESS_WINDOW_MS);
  expect(progress.signal.aborted).toBe(false);
});
