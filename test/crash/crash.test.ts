import { describe, expect, it } from 'vitest';
import { etcdMissing } from '../support/etcd.ts';
import { crashRounds } from './rounds.ts';

const missing = etcdMissing();
if (missing) console.warn(missing);

describe('a store whose program is killed while it writes', () => {
  it('loses nothing that was acknowledged, in a directory', async () => {
    const summary = await crashRounds({ store: 'embedded', rounds: 3, seed: 1 });
    expect(summary.problems).toEqual([]);
    expect(summary.acknowledged).toBeGreaterThan(100);
  }, 60_000);

  it.skipIf(missing)(
    'loses nothing that was acknowledged, on an etcd that is killed as well',
    async () => {
      const summary = await crashRounds({ store: 'etcd', rounds: 3, seed: 1 });
      expect(summary.problems).toEqual([]);
      expect(summary.acknowledged).toBeGreaterThan(100);
    },
    60_000,
  );
});
