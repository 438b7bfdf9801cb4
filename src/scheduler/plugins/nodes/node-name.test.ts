import { expect, it } from 'vitest';
import { nodeObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodeName } from './node-name.ts';

const world = new TestWorld([nodeObject('a'), nodeObject('b')]);

it('skips a pod that names no node', () => {
  expect(world.isSkipped(nodeName, podOf())).toBe(true);
});

it('accepts only the named node', () => {
  expect(world.verdicts(nodeName, podOf({ spec: { nodeName: 'b' } }))).toEqual({
    a: "node(s) didn't match the requested node name",
    b: 'fits',
  });
});
