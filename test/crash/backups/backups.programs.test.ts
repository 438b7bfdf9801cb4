import { expect, it } from 'vitest';
import { backupRounds } from './rounds.ts';

it('a backup or a restore that is killed leaves what was there, or what it was to make', async () => {
  const { killed, problems } = await backupRounds({ rounds: 3, seed: 1, report: () => undefined });
  expect(problems).toEqual([]);
  expect(killed).toBeGreaterThan(0);
}, 120_000);
