import { expect, it } from 'vitest';
import { nodeObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodeResourcesBalancedAllocation as balanced } from './node-resources-balanced-allocation.ts';

const allocatable = { cpu: '10', memory: '10Gi' };

it('prefers the node that the pod leaves more balanced', () => {
  const world = new TestWorld([nodeObject('busy', { allocatable }), nodeObject('full', { allocatable })]);
  world.place('busy', { requests: { cpu: '6', memory: '1Gi' } });
  world.place('full', { requests: { cpu: '1', memory: '6Gi' } });
  const scores = world.scores(balanced, podOf({ requests: { cpu: '100m', memory: '4Gi' } }));
  expect(scores.busy).toBeGreaterThan(scores.full!);
});

it('does not score pods without requests', () => {
  const world = new TestWorld([nodeObject('a')]);
  expect(world.scores(balanced, podOf())).toEqual({});
});

it('gives a middle score when the pod leaves the balance unchanged', () => {
  const world = new TestWorld([nodeObject('a', { allocatable })]);
  expect(world.scores(balanced, podOf({ requests: { cpu: '1', memory: '1Gi' } }))).toEqual({ a: 75 });
});
