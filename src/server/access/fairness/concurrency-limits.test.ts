import { describe, expect, it } from 'vitest';
import type { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import { type ConcurrencyLimits, canTakeSeats, concurrencyLimitsOf } from './concurrency-limits.ts';
import { defaultLevels } from './defaults.ts';

type Spec = PriorityLevelConfiguration['spec'];

const defaults = new Map([...defaultLevels] as [string, Spec][]);

it('seats are divided as in Kubernetes for the default levels', () => {
  const limits = concurrencyLimitsOf(defaults, 600);
  expect(Object.fromEntries([...limits].map(([name, { nominal }]) => [name, nominal]))).toEqual({
    exempt: 0,
    'catch-all': 13,
    system: 74,
    'node-high': 98,
    'leader-election': 25,
    'workload-high': 98,
    'workload-low': 245,
    'global-default': 49,
  });
  expect(limits.get('system')).toEqual({ nominal: 74, lower: 50, upper: 600 });
});

it('seats can be borrowed up to a fraction of those that a level has', () => {
  const spec = {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 10, lendablePercent: 0, borrowingLimitPercent: 50 },
  };
  expect(concurrencyLimitsOf(new Map([['a', spec as Spec]]), 100).get('a')).toEqual({
    nominal: 100,
    lower: 100,
    upper: 150,
  });
});

describe('a level', () => {
  const level = (executingSeats: number, limits: ConcurrencyLimits) => ({ executingSeats, limits });
  const limits = { nominal: 10, lower: 5, upper: 18 };

  it('can always use its nominal seats', () => {
    const busy = level(90, { nominal: 10, lower: 0, upper: 100 });
    const own = level(9, limits);
    expect(canTakeSeats(own, 1, [own, busy], 20)).toBe(true);
  });

  it('borrows unused seats that other levels lend', () => {
    const idle = level(0, limits);
    const own = level(10, limits);
    expect(canTakeSeats(own, 5, [own, idle], 20)).toBe(true);
    expect(canTakeSeats(own, 6, [own, idle], 20)).toBe(false);
    const busy = level(8, limits);
    expect(canTakeSeats(own, 2, [own, busy], 20)).toBe(true);
    expect(canTakeSeats(own, 3, [own, busy], 20)).toBe(false);
  });

  it('borrows no more than its limit', () => {
    const own = level(18, limits);
    expect(canTakeSeats(own, 1, [own], 100)).toBe(false);
  });
});
