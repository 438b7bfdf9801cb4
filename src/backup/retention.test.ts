import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListedBackup, planRetention } from './retention.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 10);
const POLICY = { hourly: 3, daily: 2 };

const hourly = (name: string, hoursAgo: number, more: Partial<ListedBackup> = {}): ListedBackup => ({
  ...{ name, time: NOW - hoursAgo * HOUR, kind: 'hourly' },
  ...more,
});

const removed = (backups: readonly ListedBackup[], policy = POLICY) => planRetention(backups, NOW, policy).remove;

describe('the retention of backups', () => {
  it('removes the oldest of each kind, oldest first, in whatever order they are listed', () => {
    const backups = [
      ...[hourly('c', 3), hourly('a', 1), hourly('e', 5), hourly('b', 2), hourly('d', 4)],
      ...[24, 48, 72].map((hours) => hourly(`daily-${hours}`, hours, { kind: 'daily' })),
    ];
    expect(removed(backups)).toEqual(['daily-72', 'e', 'd']);
  });

  it('keeps manual ones, however old', () => {
    expect(removed([hourly('m', 10_000, { kind: 'manual' }), ...[1, 2, 3, 4].map((n) => hourly(`h${n}`, n))])).toEqual([
      'h4',
    ]);
  });

  it('keeps what a kept one builds on', () => {
    const chain = [5, 4, 3, 2, 1].map((n) => hourly(`h${n}`, n, { base: n === 5 ? undefined : `h${n + 1}` }));
    expect(removed([...chain, hourly('old', 6)])).toEqual(['old']);
    expect(removed([hourly('full', 9), hourly('m', 8, { kind: 'manual', base: 'full' }), ...chain])).toEqual([]);
  });

  it('keeps the newest one that can be restored when all newer ones cannot', () => {
    const backups = [
      ...[hourly('good', 5), hourly('damaged', 4, { isDamaged: true }), hourly('orphan', 3, { base: 'lost' })],
      ...[hourly('after-damaged', 2, { base: 'damaged' }), hourly('older', 6)],
    ];
    expect(removed(backups, { hourly: 1, daily: 0 })).toEqual(['older']);
  });

  it('finds that two backups with the same damaged base cannot be restored', () => {
    const backups = [
      ...[hourly('good', 5), hourly('base', 4, { isDamaged: true }), hourly('x', 3, { base: 'base' })],
      hourly('y', 2, { base: 'base' }),
    ];
    expect(removed(backups, { hourly: 1, daily: 0 })).toEqual([]);
  });

  it('removes damaged ones once a newer one can be restored', () => {
    expect(removed([hourly('damaged', 2, { isDamaged: true }), hourly('good', 1)])).toEqual(['damaged']);
  });

  it('removes those of a clock that was ahead before those of the present', () => {
    const ahead = [1, 2, 3].map((n) => hourly(`ahead${n}`, -1000 * n));
    expect(removed([...ahead, hourly('now', 0)])).toEqual(['ahead1']);
    expect(removed([...ahead, hourly('now', 0), hourly('before', 1), hourly('earlier', 2)])).toEqual([
      ...['ahead1', 'ahead2', 'ahead3'],
    ]);
  });

  it('takes small differences of clocks for the present', () => {
    expect(removed([hourly('ahead', -0.05), ...[1, 2, 3].map((n) => hourly(`h${n}`, n))])).toEqual(['h3']);
  });

  it('ends when bases lead in a circle', () => {
    const circle = [hourly('a', 1, { base: 'b' }), hourly('b', 2, { base: 'a' }), hourly('self', 3, { base: 'self' })];
    expect(removed(circle)).toEqual([]);
    expect(removed([hourly('good', 0), ...circle])).toEqual(['self', 'b', 'a']);
  });

  it('takes time in proportion to the number of backups', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => hourly(`h${n}`, n, { base: `h${n + 1}` }));
    expect(removed(chain)).toEqual([]);
    expect(removed([...chain, hourly('h20000', 20_000)])).toEqual([]);
  });
});

const anyBackups = fc
  .array(
    fc.record({
      hoursAgo: fc.integer({ min: -30, max: 300 }),
      kind: fc.constantFrom('hourly', 'hourly', 'daily', 'manual'),
      base: fc.option(fc.nat(30), { nil: undefined }),
      isDamaged: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((drafts) =>
    drafts.map(({ hoursAgo, kind, base, isDamaged }, index): ListedBackup => {
      const name = `b${index}`;
      return { name, time: NOW - hoursAgo * HOUR, kind, base: base === undefined ? undefined : `b${base}`, isDamaged };
    }),
  );
const anyPolicy = fc.record({ hourly: fc.integer({ min: 0, max: 5 }), daily: fc.integer({ min: 0, max: 3 }) });

/** Follows bases naively. */
function canBeRestored(name: string | undefined, all: readonly ListedBackup[], depth = 0): boolean {
  const backup = all.find((each) => each.name === name);
  if (!backup || backup.isDamaged || depth > all.length) return false;
  return backup.base === undefined || canBeRestored(backup.base, all, depth + 1);
}

describe('for any backups', () => {
  it('what is kept has what it builds on, and manual ones stay', () => {
    fc.assert(
      fc.property(anyBackups, anyPolicy, (backups, policy) => {
        const gone = new Set(removed(backups, policy));
        const names = new Set(backups.map(({ name }) => name));
        for (const { name, base, kind } of backups) {
          if (kind === 'manual') expect(gone.has(name)).toBe(false);
          if (!gone.has(name) && base !== undefined && names.has(base)) expect(gone.has(base)).toBe(false);
        }
      }),
    );
  });

  it('the newest one that can be restored stays, and can still be restored', () => {
    fc.assert(
      fc.property(anyBackups, anyPolicy, (backups, policy) => {
        const gone = new Set(removed(backups, policy));
        const left = backups.filter(({ name }) => !gone.has(name));
        const good = backups.filter(({ name, time }) => time <= NOW && canBeRestored(name, backups));
        const newest = Math.max(...good.map(({ time }) => time));
        if (good.length > 0)
          expect(left.some(({ name, time }) => time === newest && canBeRestored(name, left))).toBe(true);
        if (backups.some(({ name }) => canBeRestored(name, backups))) {
          expect(left.some(({ name }) => canBeRestored(name, left))).toBe(true);
        }
      }),
    );
  });

  it('a plan that was carried out, in part or in full, is not followed by more', () => {
    fc.assert(
      fc.property(anyBackups, anyPolicy, fc.nat(), (backups, policy, part) => {
        const { remove } = planRetention(backups, NOW, policy);
        const done = new Set(remove.slice(0, part % (remove.length + 1)));
        const next = removed(
          backups.filter(({ name }) => !done.has(name)),
          policy,
        );
        expect(next).toEqual(remove.slice(done.size));
      }),
    );
  });
});

describe('backups that are taken every hour and pruned after each', () => {
  it('settle at 24 hourly and 7 daily ones, through steps of the clock', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 1, maxLength: 3 }), (steps) => {
        let now = NOW;
        let kept: readonly ListedBackup[] = [];
        for (const [index, step] of steps.entries()) {
          now += step * HOUR;
          for (let hour = 0; hour < 200; hour++) {
            now += HOUR;
            const taken: ListedBackup = {
              ...{ name: `${index}-${hour}`, time: now, kind: hour % 24 === 0 ? 'daily' : 'hourly' },
            };
            kept = [...kept, taken];
            const gone = planRetention(kept, now, { hourly: 24, daily: 7 }).remove;
            expect(gone).not.toContain(taken.name);
            kept = kept.filter(({ name }) => !gone.includes(name));
          }
        }
        expect(kept.filter(({ kind }) => kind === 'hourly')).toHaveLength(24);
        expect(kept.filter(({ kind }) => kind === 'daily')).toHaveLength(7);
      }),
      { numRuns: 10 },
    );
  });
});
