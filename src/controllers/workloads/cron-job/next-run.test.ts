import { describe, expect, it, vi } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { type CronSchedule, parseCronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { nextRun, zoneOf } from './next-run.ts';

const parse = (text: string): CronSchedule => {
  const schedule = parseCronSchedule(text);
  if ('error' in schedule) throw new Error(schedule.error);
  return schedule;
};
const next = (text: string, after: string, zone = 'UTC') => {
  const time = nextRun(parse(text), Date.parse(after), zone);
  return time === undefined ? undefined : zoneOf(zone).format(time);
};
/** The first runs after a moment. */
const runs = (text: string, after: string, { zone = 'UTC', count = 3 } = {}) => {
  const out: string[] = [];
  let time = Date.parse(after);
  for (let i = 0; i < count; i++) {
    time = nextRun(parse(text), time, zone) ?? Number.NaN;
    out.push(zoneOf(zone).format(time));
  }
  return out;
};

describe('the next run', () => {
  it.each([
    ['* * * * *', '2030-01-01T10:00:00Z', '2030-01-01T10:01:00Z'],
    ['* * * * *', '2030-01-01T09:59:59.999Z', '2030-01-01T10:00:00Z'],
    ['*/15 * * * *', '2030-01-01T10:14:30Z', '2030-01-01T10:15:00Z'],
    ['0 0 1 1 *', '2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'],
    ['30 4 1,15 * *', '2030-01-02T00:00:00Z', '2030-01-15T04:30:00Z'],
    ['0 12 * * MON-FRI', '2030-01-04T12:00:00Z', '2030-01-07T12:00:00Z'],
    ['0 0 * JAN,mar SUN', '2030-01-27T00:00:00Z', '2030-03-03T00:00:00Z'],
    ['0 0 29 2 ?', '2029-03-01T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['0 9-17/4 * * *', '2030-01-01T13:00:00Z', '2030-01-01T17:00:00Z'],
    ['5/20 * * * *', '2030-01-01T10:25:00Z', '2030-01-01T10:45:00Z'],
    ['@hourly', '2030-01-01T10:00:00Z', '2030-01-01T11:00:00Z'],
    ['@daily', '2030-01-01T10:00:00Z', '2030-01-02T00:00:00Z'],
    ['@midnight', '2030-01-01T10:00:00Z', '2030-01-02T00:00:00Z'],
    ['@weekly', '2030-01-01T10:00:00Z', '2030-01-06T00:00:00Z'],
    ['@monthly', '2030-01-01T10:00:00Z', '2030-02-01T00:00:00Z'],
    ['@yearly', '2030-01-01T10:00:00Z', '2031-01-01T00:00:00Z'],
    ['@annually', '2030-01-01T10:00:00Z', '2031-01-01T00:00:00Z'],
    ['@every 1h30m', '2030-01-01T10:00:00.500Z', '2030-01-01T11:30:00Z'],
    ['@every 100ms', '2030-01-01T10:00:00Z', '2030-01-01T10:00:01Z'],
  ])('of %s after %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it('needs either day when both are restricted, and both otherwise', () => {
    const both = runs('0 0 13 * FRI', '2030-01-01T00:00:00Z', { count: 3 });
    expect(both).toEqual(['2030-01-04T00:00:00Z', '2030-01-11T00:00:00Z', '2030-01-13T00:00:00Z']);
    // A star with a step narrows down; one without does not.
    expect(next('0 0 */2 * FRI', '2030-01-01T00:00:00Z')).toBe('2030-01-03T00:00:00Z');
    expect(next('0 0 * * FRI', '2030-01-01T00:00:00Z')).toBe('2030-01-04T00:00:00Z');
  });

  it('does not exist for a date that never occurs', () => {
    expect(next('59 23 31 2 *', '2030-01-01T00:00:00Z')).toBeUndefined();
    expect(next('0 0 30 2 *', '2030-01-01T00:00:00Z', 'Europe/Berlin')).toBeUndefined();
  });

  it('is found without asking the time zone about every day', () => {
    const asked = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    expect(next('0 0 31 2,4,6,9,11 *', '2030-01-01T00:00:00Z', 'Pacific/Apia')).toBe(undefined);
    expect(next('0 0 29 2 *', '2029-03-01T00:00:00Z', 'Pacific/Apia')).toBe('2032-02-29T00:00:00+13:00');
    expect(asked.mock.calls.length).toBeLessThan(20);
    asked.mockRestore();
  });

  it('uses the local time of its zone', () => {
    expect(next('0 9 * * *', '2030-01-01T00:00:00Z', 'Asia/Kolkata')).toBe('2030-01-01T09:00:00+05:30');
    expect(next('0 9 * * *', '2030-07-01T00:00:00Z', 'America/New_York')).toBe('2030-07-01T09:00:00-04:00');
    expect(next('0 0 1 * *', '2030-01-31T20:00:00Z', 'Pacific/Kiritimati')).toBe('2030-03-01T00:00:00+14:00');
    const schedule = parse('TZ=Asia/Tokyo 0 9 * * *');
    expect(nextRun(schedule, Date.parse('2030-01-01T01:00:00Z'), 'UTC')).toBe(Date.parse('2030-01-02T00:00:00Z'));
  });

  it('skips a local time that does not exist', () => {
    const zone = 'America/New_York';
    expect(runs('30 2 * * *', '2030-03-09T00:00:00Z', { zone })).toEqual([
      '2030-03-09T02:30:00-05:00',
      '2030-03-11T02:30:00-04:00',
      '2030-03-12T02:30:00-04:00',
    ]);
    expect(runs('0 * * * *', '2030-03-10T05:30:00Z', { zone })).toEqual([
      '2030-03-10T01:00:00-05:00',
      '2030-03-10T03:00:00-04:00',
      '2030-03-10T04:00:00-04:00',
    ]);
  });

  it('occurs twice for a local time that occurs twice', () => {
    const zone = 'America/New_York';
    expect(runs('30 1 * * *', '2030-11-02T12:00:00Z', { zone })).toEqual([
      '2030-11-03T01:30:00-04:00',
      '2030-11-03T01:30:00-05:00',
      '2030-11-04T01:30:00-05:00',
    ]);
  });

  it('handles days without midnight, and with two', () => {
    // In 2017 clocks in Brazil went from midnight to one o'clock.
    const zone = 'America/Sao_Paulo';
    expect(runs('0 0 * * *', '2017-10-14T02:00:00Z', { zone, count: 2 })).toEqual([
      '2017-10-14T00:00:00-03:00',
      '2017-10-16T00:00:00-02:00',
    ]);
    expect(next('0 1 15 10 *', '2017-10-14T02:00:00Z', zone)).toBe('2017-10-15T01:00:00-02:00');
    expect(runs('0 0 5 11 *', '2017-11-01T00:00:00Z', { zone: 'America/Havana', count: 2 })).toEqual([
      '2017-11-05T00:00:00-04:00',
      '2017-11-05T00:00:00-05:00',
    ]);
    // In 2011 Samoa had no 30th of December.
    expect(runs('0 0 * * *', '2011-12-29T12:00:00Z', { zone: 'Pacific/Apia', count: 1 })).toEqual([
      '2011-12-31T00:00:00+14:00',
    ]);
  });

  it('is the first minute whose local time matches', () => {
    const zones = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Europe/Berlin', 'America/Havana');
    const hours = fc.uniqueArray(fc.nat({ max: 23 }), { minLength: 1, maxLength: 4 });
    const minutes = fc.uniqueArray(fc.constantFrom<number>(0, 1, 29, 30, 59), { minLength: 1, maxLength: 2 });
    // Around the days when clocks change.
    const day = fc.constantFrom('2030-03-10', '2030-11-03', '2030-04-07', '2030-10-06', '2030-03-31', '2030-10-27');
    const after = fc.tuple(day, fc.integer({ min: -600, max: 1500 }));
    forAll({ numRuns: 60 }, zones, hours, minutes, after, (zone, atHours, atMinutes, [date, minute]) => {
      const schedule = parse(`${atMinutes.join(',')} ${atHours.join(',')} * * *`);
      const start = Date.parse(`${date}T00:00:00Z`) + minute * 60_000;
      let expected = start + 60_000;
      const fits = () => {
        const wall = zoneOf(zone).read(expected);
        return atHours.includes(wall.hour) && atMinutes.includes(wall.minute);
      };
      while (!fits()) expected += 60_000;
      expect(nextRun(schedule, start, zone)).toBe(expected);
    });
  });
});

it('all spellings of a time zone are the same', () => {
  expect(zoneOf('europe/BERLIN')).toBe(zoneOf('Europe/Berlin'));
  expect(zoneOf('utc')).toBe(zoneOf('UTC'));
});

it.each([
  ['UTC', '0050-06-15T00:00:00Z', '0050-07-01T00:00:00Z'],
  ['Asia/Tokyo', '0099-12-15T00:00:00Z', '0100-01-01T00:00:00+09:19'],
  ['Asia/Tokyo', '0001-01-01T00:00:00Z', '0001-02-01T00:00:00+09:19'],
  ['UTC', '0000-02-28T00:00:00Z', '0000-03-01T00:00:00Z'],
])('a schedule of %s has runs in the first century, too', (zone, after, run) => {
  expect(next('0 0 1 * *', after, zone)).toBe(run);
});

it('local times before the year 1 are found', () => {
  const zone = zoneOf('Asia/Tokyo');
  expect(zone.read(Date.parse('0000-06-15T00:00:00Z'))).toMatchObject({ year: 0, month: 6, day: 15, hour: 9 });
});
