import { expect, test } from 'vitest';
import { Cleanup } from './cleanup.ts';

test('closes in reverse order, also after failures', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  for (const name of ['directory', 'store', 'server']) {
    cleanup.add(async () => {
      closed.push(name);
      if (name !== 'store') return;
      throw new Error('the disk is gone');
    });
  }
  await expect(cleanup.run()).rejects.toThrow('the disk is gone');
  expect(closed).toEqual(['server', 'store', 'directory']);
  await cleanup.run();
  expect(closed).toHaveLength(3);
});
