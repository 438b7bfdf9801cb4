import { expect, test } from 'vitest';
import { fc, forAll, forAllAsync } from './property-runs.ts';

test('a property is tried a hundred times, or as often as the runs say', async () => {
  let tries = 0;
  forAll(fc.nat(), () => void tries++);
  expect(tries).toBe(100);
  forAll({ numRuns: 3 }, fc.nat(), () => void tries++);
  expect(tries).toBe(103);
  await forAllAsync({ numRuns: 3 }, fc.nat(), async () => void tries++);
  expect(tries).toBe(106);
});

test('a property that does not hold is an error', async () => {
  expect(() => forAll(fc.nat(), fc.nat(), (a, b) => a + b < 10)).toThrow('Property failed');
  const failing = forAllAsync(fc.constant(1), async (one) => expect(one).toBe(2));
  await expect(failing).rejects.toThrow('Property failed');
});
