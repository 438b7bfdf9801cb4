import { expect, test } from 'vitest';
import { type CalendarSchedule, isTimeZone, parseCronSchedule } from './cron-schedule.ts';

function calendar(text: string): CalendarSchedule {
  const schedule = parseCronSchedule(text);
  if (!('type' in schedule) || schedule.type !== 'calendar') throw new Error(`${text}: ${JSON.stringify(schedule)}`);
  return schedule;
}

const range = (from: number, to: number, step = 1) => {
  const out: number[] = [];
  for (let i = from; i <= to; i += step) out.push(i);
  return new Set(out);
};

test.each([
  ['* * * * *', range(0, 59)],
  ['5 * * * *', new Set([5])],
  ['+5 * * * *', new Set([5])],
  ['*/15 * * * *', new Set([0, 15, 30, 45])],
  ['10/20 * * * *', new Set([10, 30, 50])],
  ['1-5 * * * *', range(1, 5)],
  ['1-10/3 * * * *', new Set([1, 4, 7, 10])],
  ['1,3,50-52 * * * *', new Set([1, 3, 50, 51, 52])],
  ['59/7 * * * *', new Set([59])],
])('the minutes of %s', (text, minutes) => {
  expect(calendar(text).minutes).toEqual(minutes);
});

test('months and days of the week have names, in any case', () => {
  const schedule = calendar('0 0 * JAN-mar Mon,Fri');
  expect(schedule.months).toEqual(range(1, 3));
  expect(schedule.daysOfWeek).toEqual(new Set([1, 5]));
});

test('whitespace of any kind separates the fields', () => {
  expect(calendar(' 0\t1  * * ? ').hours).toEqual(new Set([1]));
});

test.each([
  ['0 0 1 * 1', true],
  ['0 0 * * 1', false],
  ['0 0 1 * ?', false],
  ['0 0 */1 * 1', false],
  ['0 0 */2 * 1', true],
])('either day is enough in %s: %s', (text, either) => {
  expect(calendar(text).eitherDay).toBe(either);
});

test.each([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * sun'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])('%s stands for %s', (word, fields) => {
  expect(calendar(word)).toEqual(calendar(fields));
});

test.each([
  ['@every 1h30m', 5_400_000],
  ['@every 90s', 90_000],
  ['@every 1.5s', 1000],
  ['@every 10ms', 1000],
  ['@every -5m', 1000],
])('%s runs every %d ms', (text, every) => {
  expect(parseCronSchedule(text)).toEqual({ type: 'interval', every });
});

test('a time zone prefix is parsed', () => {
  expect(calendar('TZ=Europe/Berlin 0 3 * * *')).toMatchObject({ timeZone: 'Europe/Berlin', hours: new Set([3]) });
  expect(calendar('CRON_TZ=UTC @daily').timeZone).toBe('UTC');
});

test.each([
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
  ['error', 'expected exactly 5 fields, found 1: [error]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* 24 * * *', 'end of range (24) above maximum (23): 24'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['99999999999999999999 * * * *', /value out of range$/],
  ['* * * constructor *', /^failed to parse int from constructor/],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['@every', 'unrecognized descriptor: @every'],
  ['@every ', 'failed to parse duration @every : time: invalid duration ""'],
  ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ['@every 5x', 'failed to parse duration @every 5x: time: unknown unit "x" in duration "5x"'],
  ['TZ=Nowhere/Land 0 0 * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
  ['TZ=0', /^invalid schedule format/],
])('%s is rejected', (text, message) => {
  const parsed = parseCronSchedule(text);
  expect(parsed).toEqual({ error: typeof message === 'string' ? message : expect.stringMatching(message) });
});

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['Etc/GMT+5', true],
  ['Mars/Olympus', false],
  ['', false],
])('time zone %s: %s', (name, known) => {
  expect(isTimeZone(name)).toBe(known);
});
