import { expect, it, vi } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { ShortLivedMap } from './short-lived-map.ts';

it('behaves like a Map', () => {
  const step = fc.tuple(fc.constantFrom('set', 'set', 'delete'), fc.nat(400), fc.nat());
  forAll({ numRuns: 30 }, fc.array(step, { maxLength: 3000, size: 'max' }), (steps) => {
    const plain = new Map<number, number>();
    const passing = new ShortLivedMap<number, number>();
    for (const [what, key, value] of steps) {
      if (what === 'delete') expect(passing.delete(key)).toBe(plain.delete(key));
      else {
        plain.set(key, value);
        passing.set(key, value);
      }
      expect(passing.get(key)).toBe(plain.get(key));
      expect(passing.size).toBe(plain.size);
    }
    const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
    expect(sorted(passing.keys())).toEqual(sorted(plain.keys()));
    expect(sorted(passing.values())).toEqual(sorted(plain.values()));
    passing.clear();
    expect(passing.size).toBe(0);
  });
});

it('does not copy long-lived entries with every insertion', () => {
  const passing = new ShortLivedMap<number, number>();
  for (let i = 0; i < 10_000; i++) passing.set(i, i);
  const moved = vi.spyOn(Map.prototype, 'set');
  for (let i = 10_000; i < 11_000; i++) {
    passing.set(i, i);
    passing.delete(i);
  }
  const { length } = moved.mock.calls;
  moved.mockRestore();
  expect(length).toBeLessThan(15_000);
  expect(passing.size).toBe(10_000);
});
