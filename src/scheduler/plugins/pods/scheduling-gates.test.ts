import { expect, it } from 'vitest';
import { podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { schedulingGates } from './scheduling-gates.ts';

const gated = { name: 'a', spec: { schedulingGates: [{ name: 'x.io/one' }, { name: 'x.io/two' }] } };

it('rejects a pod while it has gates, and is woken when the last is removed', () => {
  const world = new TestWorld();
  expect(world.verdicts(schedulingGates, podOf(gated))).toBe('waiting for scheduling gates: [x.io/one x.io/two]');
  expect(world.isSkipped(schedulingGates, podOf())).toBe(true);
  const { Pod } = schedulingGates.hints!;
  const update = { resource: 'Pod', type: 'update', object: podObject({ name: 'a' }), old: podObject(gated) } as const;
  expect(Pod!(update, podOf(gated), world)).toBe(true);
  expect(Pod!(update, podOf({ ...gated, name: 'b' }), world)).toBe(false);
});
