import { expect, it } from 'vitest';
import { damageRounds } from './rounds.ts';

it('a damaged data file is rejected, by its name or by the keys that cannot be read, and never served wrong', async () => {
  const { cases, harmless, partial, rejected, problems } = await damageRounds({ rounds: 3, seed: 1 });
  expect(problems).toEqual([]);
  expect(harmless + partial + rejected).toBe(cases);
  // Each outcome is met.
  expect(Math.min(harmless, partial, rejected)).toBeGreaterThan(0);
}, 180_000);
