import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { scratchDirectories } from '../../../../test/support/store-directories.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { StoreFull } from '../../store.ts';
import { Reserve } from './reserve.ts';

vi.mock('node:fs', async (original) => ({ ...(await original<typeof import('node:fs')>()), statfsSync: vi.fn() }));

const directory = await scratchDirectories();
const GIBIBYTE = 2 ** 30;
const clock = new ControlledClock();
const disk = vi.mocked(statfsSync);
const room = (bytes: number) => disk.mockReturnValue({ bavail: bytes / 4096, bsize: 4096 } as never);

function opened(time: Pick<ControlledClock, 'now'>): Promise<Reserve> {
  const path = directory();
  mkdirSync(path);
  return Reserve.open(join(path, 'data'), time as ControlledClock);
}

let reserve: Reserve;
beforeEach(async () => {
  disk.mockClear();
  reserve = await opened(clock);
  return () => reserve.close();
});

it('checks before every flush unless there is plenty of space', async () => {
  room(GIBIBYTE / 2);
  for (let i = 0; i < 3; i++) await reserve.take(10);
  expect(disk).toHaveBeenCalledTimes(3);
  room(0);
  await expect(reserve.take(10)).rejects.toBeInstanceOf(StoreFull);
});

it('checks periodically while there is ample space', async () => {
  room(2 * GIBIBYTE);
  for (let i = 0; i < 3; i++) await reserve.take(10);
  expect(disk).toHaveBeenCalledTimes(1);
  room(0);
  await clock.advance(20);
  await expect(reserve.take(10)).rejects.toBeInstanceOf(StoreFull);
});

it('checks before a large flush, and before later ones when there was no space', async () => {
  room(2 * GIBIBYTE);
  await reserve.take(10);
  room(0);
  await expect(reserve.take(100_000)).rejects.toBeInstanceOf(StoreFull);
  await expect(reserve.take(10)).rejects.toBeInstanceOf(StoreFull);
});

it('checks again when it has used much space itself, even while time stands still', async () => {
  room(2 * GIBIBYTE);
  await reserve.take(10);
  room(0);
  const fill = async () => {
    for (let taken = 0; taken < GIBIBYTE; taken += 1_000 * 4096) await reserve.take(1_000);
  };
  await expect(fill()).rejects.toBeInstanceOf(StoreFull);
});

it('checks again when the clock was set back', async () => {
  const turned = { now: () => 1_000_000 };
  const other = await opened(turned);
  room(2 * GIBIBYTE);
  await other.take(10);
  turned.now = () => 0;
  room(0);
  await expect(other.take(10)).rejects.toBeInstanceOf(StoreFull);
  await other.close();
});
