import { expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';

const cordoned = nodeObject('b', { spec: { unschedulable: true } });
const open = nodeObject('b');
const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];

it('rejects a cordoned node, unless the pod tolerates the cordon', () => {
  const world = new TestWorld([nodeObject('a'), cordoned]);
  expect(world.verdicts(nodeUnschedulable, podOf())).toEqual({ a: 'fits', b: 'node(s) were unschedulable' });
  expect(world.isSkipped(nodeUnschedulable, podOf({ spec: { tolerations } }))).toBe(true);
});

it('is skipped while no node is cordoned', () => {
  const world = new TestWorld([cordoned]);
  expect(world.isSkipped(nodeUnschedulable, podOf())).toBe(false);
  world.cluster.setNode(open);
  expect(world.isSkipped(nodeUnschedulable, podOf())).toBe(true);
});

it('is woken by an uncordoned node, or a toleration', () => {
  const world = new TestWorld();
  const pod = podOf({ name: 'a' });
  const { Node, Pod } = nodeUnschedulable.hints!;
  const node = { resource: 'Node', type: 'update' } as const;
  expect(Node!({ ...node, object: open, old: cordoned }, pod, world)).toBe(true);
  expect(Node!({ ...node, object: open, old: open }, pod, world)).toBe(false);
  expect(Node!({ resource: 'Node', type: 'add', object: cordoned }, pod, world)).toBe(false);
  const tolerant = podObject({ name: 'a', spec: { tolerations } });
  expect(Pod!({ resource: 'Pod', type: 'update', object: tolerant, old: pod.pod }, pod, world)).toBe(true);
});
