import { expect, test } from 'vitest';
import { clusterRounds } from './rounds.ts';

test('a cluster that is killed at any moment becomes what was asked for, and nothing else', async () => {
  const { problems, kills, expected } = await clusterRounds({ rounds: 2, kills: 3, seed: 1 });
  expect(problems).toEqual([]);
  expect(kills).toBe(6);
  expect(expected).toBeGreaterThan(10);
}, 200_000);
