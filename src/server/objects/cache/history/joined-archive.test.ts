import { expect, it } from 'vitest';
import type { Archive, Moment } from '../../../../store/archive/archive.ts';
import { StoreUnavailable } from '../../../../store/store.ts';
import { JoinedArchive } from './joined-archive.ts';

/** An archive that begins at a revision, or is not open yet. Its rows say which one it is. */
function archive(name: string, oldest: () => number | undefined): Archive {
  const moment = (revision: number): Moment => ({ revision, time: 0 });
  return {
    bounds() {
      const revision = oldest();
      if (revision === undefined) throw new StoreUnavailable('not open yet');
      return { oldest: moment(revision), newest: moment(100) };
    },
    get: async (key: string) => ({ key, revision: 1, value: Buffer.from(name) }),
    purge: async () => ({ changes: 0, bytes: 0 }),
  } as unknown as Archive;
}

it('reads what reaches further back, and what was purged in neither', async () => {
  let onDisk: number | undefined;
  const joined = new JoinedArchive(
    archive('disk', () => onDisk),
    archive('memory', () => 5),
  );
  const source = async () => (await joined.get('/a', 10))?.value.toString();
  expect(await source()).toBe('memory');
  onDisk = 7;
  expect(await source()).toBe('memory');
  onDisk = 5;
  expect(await source()).toBe('disk');
  onDisk = 7;
  await joined.purge({});
  expect(await source()).toBe('disk');
});
