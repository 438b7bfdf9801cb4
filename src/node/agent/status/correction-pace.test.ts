import { expect, it } from 'vitest';
import type { PodStatus } from '../../pod/status-patch.ts';
import { CorrectionPace } from './correction-pace.ts';

const statusAt = (time: string, phase = 'Running') =>
  ({ phase, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }] }) as unknown as PodStatus;

/** Writes the status as soon as it may be, and returns the delays. */
function delays(pace: CorrectionPace, count: number, start = 0): number[] {
  let now = start;
  return Array.from({ length: count }, (_, at) => {
    const status = statusAt(`${at}`);
    const waitMs = pace.waitMs(status, now);
    now += waitMs;
    expect(pace.waitMs(status, now)).toBe(0);
    pace.wrote(status, now);
    return waitMs;
  });
}

it('delays repeated corrections up to ten seconds', () => {
  const pace = new CorrectionPace();
  expect(delays(pace, 9)).toEqual([0, 0, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

it('does not delay a status that is new', () => {
  const pace = new CorrectionPace();
  delays(pace, 9);
  expect(pace.waitMs(statusAt('0', 'Failed'), 0)).toBe(0);
});

it('corrects at once again when nobody has changed the status for a while', () => {
  const pace = new CorrectionPace();
  delays(pace, 9);
  expect(delays(pace, 3, 100_000)).toEqual([0, 500, 1_000]);
});
