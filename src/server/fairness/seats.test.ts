import { describe, expect, it } from 'vitest';
import type { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import { defaultLevels } from './defaults.ts';
import { type Bounds, boundsOf, mayTake } from './seats.ts';

type Spec = PriorityLevelConfiguration['spec'];

const defaults = new Map([...defaultLevels] as [string, Spec][]);

describe('seats', () => {
  it('are those of Kubernetes for the default levels', () => {
    const bounds = boundsOf(defaults, 600);
    expect(Object.fromEntries([...bounds].map(([name, { nominal }]) => [name, nominal]))).toEqual({
      exempt: 0,
      'catch-all': 13,
      system: 74,
      'node-high': 98,
      'leader-election': 25,
      'workload-high': 98,
      'workload-low': 245,
      'global-default': 49,
    });
    expect(bounds.get('system')).toEqual({ nominal: 74, lower: 50, upper: 600 });
  });

  it('can be borrowed up to a part of those that a level has', () => {
    const spec = {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 10, lendablePercent: 0, borrowingLimitPercent: 50 },
    };
    expect(boundsOf(new Map([['a', spec as Spec]]), 100).get('a')).toEqual({ nominal: 100, lower: 100, upper: 150 });
  });
});

describe('a level', () => {
  const level = (executing: number, bounds: Bounds) => ({ executing, bounds });
  const bounds = { nominal: 10, lower: 5, upper: 18 };

  it('has its own seats whatever the others do', () => {
    const busy = level(90, { nominal: 10, lower: 0, upper: 100 });
    const own = level(9, bounds);
    expect(mayTake(own, 1, [own, busy], 20)).toBe(true);
  });

  it('borrows what others lend, and leaves them the rest', () => {
    const idle = level(0, bounds);
    const own = level(10, bounds);
    expect(mayTake(own, 5, [own, idle], 20)).toBe(true);
    expect(mayTake(own, 6, [own, idle], 20)).toBe(false);
    const busy = level(8, bounds);
    expect(mayTake(own, 2, [own, busy], 20)).toBe(true);
    expect(mayTake(own, 3, [own, busy], 20)).toBe(false);
  });

  it('borrows no more than it may', () => {
    const own = level(18, bounds);
    expect(mayTake(own, 1, [own], 100)).toBe(false);
  });
});
