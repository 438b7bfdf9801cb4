import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { planClusterRoleAggregation } from './cluster-role-aggregation.ts';

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const selecting = (label: string) => ({ clusterRoleSelectors: [{ matchLabels: { [label]: 'yes' } }] });

const role = fc.record({
  rules: fc.subarray(['pods', 'nodes', 'secrets'].map(rule)),
  labels: fc.subarray(['a', 'b', 'c']),
  gathers: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
});

function build(roles: readonly (typeof role extends fc.Arbitrary<infer T> ? T : never)[]): PlannerWorld {
  const world = new PlannerWorld();
  roles.forEach(({ rules, labels, gathers }, index) => {
    world.put(ClusterRole, {
      metadata: { name: `role-${index}`, labels: Object.fromEntries(labels.map((label) => [label, 'yes'])) },
      rules,
      ...(gathers ? { aggregationRule: selecting(gathers) } : {}),
    });
  });
  return world;
}

/** Plans for every role, round by round; returns whether the plans came to an end. */
function settles(world: PlannerWorld): boolean {
  for (let round = 0; round < 10; round++) {
    const plans = world.of(ClusterRole).list();
    const before = world
      .of(ClusterRole)
      .list()
      .map(({ metadata }) => metadata.resourceVersion);
    for (const { metadata } of plans) {
      world.apply(planClusterRoleAggregation(world.of(ClusterRole).get(metadata.name), world));
    }
    const after = world
      .of(ClusterRole)
      .list()
      .map(({ metadata }) => metadata.resourceVersion);
    if (before.join() === after.join()) return true;
  }
  return false;
}

it('planClusterRoleAggregation ends with the rules of all that are selected, and leaves other roles alone', () => {
  forAll(fc.array(role, { maxLength: 5 }), (roles) => {
    const world = build(roles);
    // Roles that gather one another can hand the same rules round, but never invent any.
    settles(world);
    roles.forEach(({ rules, gathers }, index) => {
      const found = world.of(ClusterRole).get(`role-${index}`);
      if (!gathers) {
        expect(found.rules).toEqual(rules);
        return;
      }
      const plain = roles.filter((other, at) => at !== index && !other.gathers && other.labels.includes(gathers));
      for (const wanted of plain.flatMap((other) => other.rules)) expect(found.rules).toContainEqual(wanted);
      const all = roles.flatMap((other) => other.rules);
      for (const held of found.rules) expect(all).toContainEqual(held);
    });
  });
});

it('planClusterRoleAggregation removes rules that are no longer aggregated, and duplicates', () => {
  const world = build([
    { rules: [rule('stale')], labels: [], gathers: 'a' },
    { rules: [rule('pods'), rule('pods')], labels: ['a'], gathers: undefined },
  ]);
  expect(settles(world)).toBe(true);
  expect(world.of(ClusterRole).get('role-0').rules).toEqual([rule('pods')]);
});

it('planClusterRoleAggregation plans nothing for a role that is gone or being deleted', () => {
  const world = build([{ rules: [rule('pods')], labels: ['a'], gathers: undefined }]);
  const dying = world.put(ClusterRole, {
    metadata: { name: 'dying', deletionTimestamp: '2030-01-01T00:00:00Z' },
    aggregationRule: selecting('a'),
    rules: [],
  });
  expect(planClusterRoleAggregation(undefined, world)).toEqual([]);
  expect(planClusterRoleAggregation(dying, world)).toEqual([]);
});
