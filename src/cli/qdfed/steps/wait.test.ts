import { expect, it } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { Missing, until } from './wait.ts';

it('goes on after an error that passes, and not after another', async () => {
  const clock = new ControlledClock();
  const said: string[] = [];
  const answers = [new ApiError('ServiceUnavailable', 'connection reset'), new Missing('a pod'), 'here'];
  const waiting = until({ clock, limitMs: 10_000, say: (what) => said.push(what) }, async () => {
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  });
  await clock.advance(5_000);
  expect(await waiting).toBe('here');
  expect(said).toEqual(['connection reset', 'a pod']);
  const rejected = until({ clock, limitMs: 10_000 }, () => Promise.reject(new ApiError('Forbidden', 'no')));
  await expect(rejected).rejects.toThrow('no');
});

it('ends with the error when it does not pass', async () => {
  const clock = new ControlledClock();
  const waiting = until({ clock, limitMs: 10_000 }, () => Promise.reject(new ApiError('ServiceUnavailable', 'reset')));
  const failed = expect(waiting).rejects.toThrow(/^reset \(waited 10 s\)$/);
  for (let i = 0; i < 30; i++) await clock.advance(500);
  await failed;
});
