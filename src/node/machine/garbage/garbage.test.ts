import { expect, test } from 'vitest';
import type { Image } from '../../runtime/runtime.ts';
import { DEFAULT_IMAGE_GARBAGE, type ImageGarbageState, noteImages, planImageGarbage } from './plan-images.ts';

const image = (id: string, bytes: number, isPinned = false) =>
  ({ id, bytes, isPinned, tags: [], digests: [] }) as unknown as Image;
const MINUTE = 60_000;
const NOW = 100 * MINUTE;

function state(parts: Partial<ImageGarbageState> & { free: number }): ImageGarbageState {
  const disk = { capacityBytes: 1000, availableBytes: parts.free, inodes: 0, freeInodes: 0 };
  return { images: [], histories: new Map(), inUse: new Set(), startedAt: 0, disk, ...parts };
}
const seen = (detectedAt: number, usedAt = 0) => ({ detectedAt, usedAt });

test('images are removed at 85 %, until 80 % are reached, the longest unused first', () => {
  const images = [image('recent', 30), image('never', 30), image('old', 30)];
  const histories = new Map([
    ['recent', seen(0, 5)],
    ['never', seen(1, 0)],
    ['old', seen(2, 3)],
  ]);
  const plan = (free: number) => planImageGarbage(state({ images, histories, free }), DEFAULT_IMAGE_GARBAGE, NOW);
  expect(plan(160)).toEqual({ remove: [], failure: undefined });
  expect(plan(159)).toEqual({ remove: ['never', 'old'], failure: undefined });
});

test('images in use, pinned and young ones stay, and it is said when that is not enough', () => {
  const images = [image('used', 500), image('pinned', 500, true), image('young', 500), image('free', 10)];
  const histories = new Map([
    ['used', seen(0)],
    ['pinned', seen(0)],
    ['young', seen(NOW - MINUTE)],
    ['free', seen(0)],
  ]);
  const inUse = new Set(['used']);
  expect(planImageGarbage(state({ images, histories, inUse, free: 100 }), DEFAULT_IMAGE_GARBAGE, NOW)).toEqual({
    remove: ['free'],
    failure:
      "Insufficient free disk space on the node's image filesystem (90% of 1000.0 B used). " +
      'Failed to free sufficient space by deleting unused images (freed 10 bytes). ' +
      'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.',
  });
});

test('images that were not used for long are removed when that is asked for', () => {
  const images = [image('old', 1), image('recent', 1)];
  const histories = new Map([
    ['old', seen(0, NOW - 11 * MINUTE)],
    ['recent', seen(0, NOW - 9 * MINUTE)],
  ]);
  const settings = { ...DEFAULT_IMAGE_GARBAGE, maxUnusedMs: 10 * MINUTE };
  const plan = (startedAt: number) =>
    planImageGarbage(state({ images, histories, free: 900, startedAt }), settings, NOW).remove;
  expect(plan(0)).toEqual(['old']);
  expect(plan(NOW - 5 * MINUTE)).toEqual([]);
  expect(planImageGarbage(state({ images, histories, free: 900 }), DEFAULT_IMAGE_GARBAGE, NOW).remove).toEqual([]);
});

test('it is noted when images came and when they were used', () => {
  const first = noteImages(new Map(), [image('a', 1), image('b', 1)], new Set(['a']), 5);
  const second = noteImages(first, [image('a', 1), image('c', 1)], new Set(), 9);
  expect([...second]).toEqual([
    ['a', { detectedAt: 5, usedAt: 5 }],
    ['c', { detectedAt: 9, usedAt: 0 }],
  ]);
});
