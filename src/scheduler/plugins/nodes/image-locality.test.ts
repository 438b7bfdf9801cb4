import { expect, it } from 'vitest';
import { nodeObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { imageLocality } from './image-locality.ts';

const MB = 1024 * 1024;
const having = (name: string, image: string, size: number) =>
  nodeObject(name, { status: { images: [{ names: [image], sizeBytes: size * MB }] } });

it('prefers nodes that have large images of the pod, and the more the more nodes have them', () => {
  const world = new TestWorld([having('a', 'busybox:latest', 600), nodeObject('b')]);
  // 600 MB on one of two nodes count as 300: (300 - 23) of (1000 - 23).
  expect(world.scores(imageLocality, podOf())).toEqual({ a: 28, b: 0 });
  world.cluster.setNode(having('b', 'busybox:latest', 600));
  expect(world.scores(imageLocality, podOf())).toEqual({ a: 59, b: 59 });
});

it('does not score when no node has an image of the pod', () => {
  const world = new TestWorld([having('a', 'nginx:1.27', 600)]);
  expect(world.scores(imageLocality, podOf())).toEqual({});
});
