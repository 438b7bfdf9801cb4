import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { systemClock as clock } from '../../../base/time/clock.ts';
import { nextPodRange, nextServiceRange } from './free.ts';
import { reserve } from './reservations.ts';

let home: string;
let folder: string;
beforeEach(async () => {
  home = temporaryDirectory();
  folder = join(home, 'some', 'folder');
});

const reserveRanges = (directory: string) =>
  reserve({ folder, directory, clock }, async (others) => {
    const chosen = { serviceClusterIpRange: nextServiceRange(others), clusterCidr: nextPodRange(others, []) };
    await new Promise((resolve) => setImmediate(resolve));
    return chosen;
  });

test('starts at once choose different ranges, one after the other', async () => {
  const all = await Promise.all(['/a', '/b', '/c'].map(reserveRanges));
  const chosen = all.map((reservation) => reservation.chosen);
  expect(new Set(chosen.map(({ serviceClusterIpRange }) => serviceClusterIpRange)).size).toBe(3);
  expect(new Set(chosen.map(({ clusterCidr }) => clusterCidr)).size).toBe(3);
  const earlier = await Promise.all(all.map(async (reservation) => (await reservation.earlier()).length));
  expect(earlier.sort()).toEqual([0, 1, 2]);
});

test('what is released can be chosen again, and nothing is left', async () => {
  const first = await reserveRanges('/a');
  await first.release();
  const second = await reserveRanges('/b');
  expect(second.chosen).toEqual(first.chosen);
  expect(await second.earlier()).toEqual([]);
  await second.release();
  expect(await readdir(home)).toEqual([]);
});

test('a choice that fails reserves nothing', async () => {
  const failed = reserve({ folder, directory: '/a', clock }, () => Promise.reject(new Error('no free range')));
  await expect(failed).rejects.toThrow('no free range');
  expect(await readdir(home)).toEqual([]);
});

test('a cluster does not collide with itself, nor with one whose process has ended', async () => {
  const own = await reserveRanges('/a');
  expect((await reserveRanges('/a')).chosen).toEqual(own.chosen);
  await own.release();
  const ended = {
    directory: '/dead',
    serviceClusterIpRange: '10.98.0.0/16',
    holder: { pid: 1, boot: 'x', started: 'y' },
  };
  await writeFile(join(folder, '1-1.json'), JSON.stringify(ended));
  await writeFile(join(folder, '2-1.json'), 'half of');
  const next = await reserveRanges('/b');
  expect(await next.earlier()).toHaveLength(1);
  expect(await readdir(folder)).not.toContain('1-1.json');
});

test('without a folder that can be written, a start goes on', async () => {
  await writeFile(join(home, 'file'), '');
  const options = { folder: join(home, 'file', 'folder'), directory: '/a', clock };
  const { chosen, release } = await reserve(options, async (others) => ({ port: 6_443 + others.length }));
  expect(chosen).toEqual({ port: 6_443 });
  await release();
});
