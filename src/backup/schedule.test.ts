import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextBackup, type ScheduleState } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 10);

const taken = (kind: 'hourly' | 'daily' | 'manual', ago: number) => ({ kind, time: NOW - ago });
const due = (backups: ScheduleState['backups'], more: Partial<ScheduleState> = {}) => {
  const { kind, at } = nextBackup({ startedAt: NOW - 10 * DAY, ...more, backups }, NOW);
  return { kind, in: at - NOW };
};

describe('the schedule of backups', () => {
  it('starts with a daily one, when the server has settled', () => {
    expect(due([], { startedAt: NOW })).toEqual({ kind: 'daily', in: MINUTE });
  });

  it('is an hourly one, an hour after the newest', () => {
    expect(due([taken('daily', 5 * HOUR), taken('hourly', 20 * MINUTE)])).toEqual({ kind: 'hourly', in: 40 * MINUTE });
  });

  it('counts a daily one as the one of its hour', () => {
    expect(due([taken('daily', 20 * MINUTE)])).toEqual({ kind: 'hourly', in: 40 * MINUTE });
  });

  it('is a daily one, when the newest daily one will be a day old', () => {
    expect(due([taken('daily', 23 * HOUR + 20 * MINUTE), taken('hourly', 20 * MINUTE)])).toEqual({
      ...{ kind: 'daily', in: 40 * MINUTE },
    });
  });

  it('takes no account of manual ones', () => {
    expect(due([taken('daily', 2 * HOUR), taken('manual', MINUTE)])).toMatchObject({ kind: 'hourly', in: -HOUR });
  });

  it('makes up for no missed ones after a long stop: one is due, a minute after the start', () => {
    expect(due([taken('daily', 9 * DAY)], { startedAt: NOW })).toEqual({ kind: 'daily', in: MINUTE });
    const after = due([taken('daily', 9 * DAY), taken('daily', 0)], { startedAt: NOW - MINUTE });
    expect(after).toEqual({ kind: 'hourly', in: HOUR });
  });

  it('goes on after a restart where it was', () => {
    expect(due([taken('daily', 30 * MINUTE)], { startedAt: NOW })).toEqual({ kind: 'hourly', in: 30 * MINUTE });
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [6, 30],
    [1000, 30],
    [5000, 30],
  ])('waits after %i failed attempts for %i minutes', (count, minutes) => {
    expect(due([taken('daily', 5 * HOUR)], { failures: { count, last: NOW } })).toMatchObject({ in: minutes * MINUTE });
  });

  it('ignores backups from the future, and failures and starts', () => {
    const ahead = NOW + 400 * DAY;
    const state = { startedAt: ahead, failures: { count: 3, last: ahead } };
    expect(due([{ kind: 'daily', time: ahead }], state)).toEqual({ kind: 'daily', in: 0 });
  });

  it('takes small differences of clocks for the present', () => {
    expect(due([{ kind: 'daily', time: NOW + MINUTE }])).toEqual({ kind: 'hourly', in: HOUR + MINUTE });
  });
});

describe('for any steps of the clock', () => {
  it('a backup is made within 126 minutes of running time, and never two within 50 minutes unless the clock stepped', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ run: fc.integer({ min: 1, max: 300 }), step: fc.integer({ min: -5000, max: 5000 }) })),
        (phases) => {
          let now = NOW;
          let since = 0;
          const backups: { time: number; kind: 'hourly' | 'daily' }[] = [];
          for (const { run, step } of phases) {
            let stepped = true;
            for (let minute = 0; minute < run; minute++) {
              now += MINUTE;
              since++;
              const next = nextBackup({ backups, startedAt: NOW }, now);
              if (next.at <= now) {
                if (!stepped) expect(since).toBeGreaterThan(50);
                backups.push({ time: now, kind: next.kind });
                [since, stepped] = [0, false];
              }
              // An hour, and up to 65 minutes in which one counts that was made before the clock stepped back.
              expect(since).toBeLessThanOrEqual(126);
            }
            now += step * MINUTE;
          }
        },
      ),
    );
  });
});
