import { describe, expect, it } from 'vitest';
import { backendMissing, durableStores } from '../support/store/backends.ts';
import { crashRounds } from './rounds.ts';

describe.each(durableStores)('%s, killed while it is written to', (store) => {
  const missing = backendMissing(store);
  if (missing) console.warn(missing);

  it.skipIf(missing !== undefined)(
    'loses nothing that was acknowledged',
    async () => {
      const summary = await crashRounds({ store, rounds: 3, seed: 1 });
      expect(summary.problems).toEqual([]);
      expect(summary.acknowledged).toBeGreaterThan(100);
    },
    60_000,
  );
});
