import { expect, it } from 'vitest';
import { type CronSchedule, parseCronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { dueRun, nextRun } from './next-run.ts';

const time = (text: string) => Date.parse(`2030-${text}:00Z`);

function due(text: string, since: string, now: string, deadline = Number.NEGATIVE_INFINITY) {
  const schedule = parseCronSchedule(text) as CronSchedule;
  let asked = 0;
  const next = (after: number) => {
    asked++;
    return nextRun(schedule, after, 'UTC');
  };
  return { found: dueRun(next, { since: time(since), deadline, now: time(now) }), asked };
}

it('the run that is due is none before the first', () => {
  expect(due('0 * * * *', '01-01T10:00', '01-01T10:59').found).toEqual({
    run: undefined,
    missed: 0,
    next: time('01-01T11:00'),
  });
});

it('the run that is due is due at its minute', () => {
  expect(due('0 * * * *', '01-01T10:00', '01-01T11:00').found).toMatchObject({
    run: time('01-01T11:00'),
    missed: 0,
    next: time('01-01T12:00'),
  });
});

it('the run that is due is the latest of those that were missed', () => {
  expect(due('0 * * * *', '01-01T10:00', '01-01T15:30').found).toEqual({
    run: time('01-01T15:00'),
    missed: 5,
    next: time('01-01T16:00'),
  });
});

it('the run that is due is found without enumerating all missed runs', () => {
  const { found, asked } = due('* * * * *', '01-01T00:00', '12-31T23:59');
  expect(found).toMatchObject({ run: time('12-31T23:59') });
  expect(found?.missed).toBeGreaterThan(500_000);
  expect(asked).toBeLessThan(20);
});

it('the run that is due is found without enumerating all missed runs where they are followed by a long pause', () => {
  const { found, asked } = due('* * * 1-6 *', '01-01T00:00', '12-31T23:59');
  expect(found).toMatchObject({ run: time('06-30T23:59') });
  expect(asked).toBeLessThan(500);
});

it('the run that is due is found where runs are not evenly spaced', () => {
  expect(due('0 6-16/4 * * 1-5', '01-01T00:00', '01-06T12:00').found).toMatchObject({ run: time('01-04T14:00') });
  expect(due('0 0-1 1 * *', '01-31T23:00', '02-28T12:00').found).toMatchObject({ run: time('02-01T01:00') });
  expect(due('* 0 1 1 *', '01-01T00:00', '12-31T23:59').found).toMatchObject({ run: time('01-01T00:59') });
});

it('the run that is due keeps the phase of an interval', () => {
  const { found } = due('@every 7h', '01-01T00:00', '02-01T00:00');
  expect(((found?.run ?? 0) - time('01-01T00:00')) % (7 * 3_600_000)).toBe(0);
  expect(found?.next).toBe((found?.run ?? 0) + 7 * 3_600_000);
  expect(found?.next).toBeGreaterThan(time('02-01T00:00'));
});

it('the run that is due counts only missed runs within the deadline', () => {
  expect(due('* * * * *', '01-01T00:00', '01-02T00:00', time('01-01T23:00')).found?.missed).toBe(61);
});

it('the run that is due does not exist where a schedule never runs', () => {
  expect(due('59 23 31 2 *', '01-01T00:00', '06-01T00:00').found).toBeUndefined();
});
