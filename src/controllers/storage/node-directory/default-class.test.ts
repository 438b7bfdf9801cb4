import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { classNamed } from '../../../../test/support/volume-objects.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { planDefaultClass } from './default-class.ts';

const home = { metadata: { name: 'kube-system', uid: 'h' } };

it('the first class is made once', () => {
  const world = new PlannerWorld();
  world.put(Namespace, home);
  const plan = () => planDefaultClass(world.of(Namespace).get('kube-system'), world);
  world.apply(plan());
  expect(
    world
      .of(StorageClass)
      .list()
      .map(({ metadata }) => metadata.name),
  ).toEqual(['standard']);
  world.delete(StorageClass, world.of(StorageClass).get('standard'));
  expect(plan()).toEqual([]);
});

it('the first class is not created beside others', () => {
  const world = new PlannerWorld();
  world.put(StorageClass, classNamed('mine'));
  world.apply(planDefaultClass(world.put(Namespace, home), world));
  expect(world.of(StorageClass).list()).toHaveLength(1);
  expect(planDefaultClass(world.of(Namespace).get('kube-system'), world)).toEqual([]);
});
