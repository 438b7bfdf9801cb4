import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextBackup, type ScheduleState } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 10);

const taken = (kind: 'hourly' | 'daily' | 'manual', ago: number) => ({ kind, time: NOW - ago });
const due = (found: ScheduleState['found'], more: Partial<ScheduleState> = {}) => {
  const { kind, at } = nextBackup({ since: NOW - MINUTE, taken: [], ...more, found }, NOW);
  return { kind, in: at - NOW };
};

describe('the schedule of backups', () => {
  it('starts with a daily one, when the server has settled', () => {
    expect(due([], { since: NOW })).toEqual({ kind: 'daily', in: MINUTE });
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
    expect(due([taken('daily', 2 * HOUR), taken('manual', MINUTE)])).toMatchObject({ kind: 'hourly', in: 0 });
  });

  it('makes up for no missed ones after a long stop: one is due, a minute after the start', () => {
    expect(due([taken('daily', 9 * DAY)], { since: NOW })).toEqual({ kind: 'daily', in: MINUTE });
    const after = due([taken('daily', 9 * DAY)], { since: NOW - MINUTE, taken: [taken('daily', 0)] });
    expect(after).toEqual({ kind: 'hourly', in: HOUR });
  });

  it('goes on after a restart where it was', () => {
    expect(due([taken('daily', 30 * MINUTE)], { since: NOW })).toEqual({ kind: 'hourly', in: 30 * MINUTE });
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
    const state = {
      since: ahead,
      failures: { count: 3, last: ahead },
      taken: [{ kind: 'daily', time: ahead } as const],
    };
    expect(due([{ kind: 'daily', time: ahead }], state)).toEqual({ kind: 'daily', in: 0 });
  });

  it('ignores backups of a clock that was ahead also when their time has come', () => {
    const found = [taken('daily', 2 * HOUR), taken('hourly', 20 * MINUTE)];
    expect(due(found, { since: NOW - 3 * HOUR })).toEqual({ kind: 'daily', in: -3 * HOUR + MINUTE });
    expect(due(found, { since: NOW, taken: [taken('hourly', 3 * HOUR)] })).toEqual({ kind: 'daily', in: -2 * HOUR });
    expect(due([taken('daily', -DAY)], { since: NOW + DAY })).toEqual({ kind: 'daily', in: 0 });
  });

  it('takes small differences of clocks for the present', () => {
    expect(due([], { taken: [{ kind: 'daily', time: NOW + MINUTE }] })).toEqual({ kind: 'hourly', in: HOUR + MINUTE });
  });
});

describe('for any steps of the clock', () => {
  it('within two hours of a backup or a restart there is another, but not within 50 unless the clock stepped', () => {
    const phase = fc.record({
      run: fc.integer({ min: 1, max: 300 }),
      step: fc.integer({ min: -5000, max: 5000 }),
      restarts: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(phase), (phases) => {
        let now = NOW;
        let minutes = 0;
        let state: ScheduleState = { since: NOW, found: [], taken: [] };
        for (const { run, step, restarts } of phases) {
          let isUnsettled = true;
          if (restarts) {
            state = { since: now, found: [...state.found, ...state.taken], taken: [] };
            minutes = 0;
          }
          for (let minute = 0; minute < run; minute++) {
            now += MINUTE;
            minutes++;
            const { at, kind } = nextBackup(state, now);
            if (at <= now) {
              if (!isUnsettled) expect(minutes).toBeGreaterThan(50);
              state = { ...state, taken: [...state.taken, { time: now, kind }] };
              [minutes, isUnsettled] = [0, false];
            }
            // An hour, and the time since a backup that seems to be up to five minutes ahead.
            expect(minutes).toBeLessThanOrEqual(126);
          }
          now += step * MINUTE;
        }
      }),
    );
  });
});
