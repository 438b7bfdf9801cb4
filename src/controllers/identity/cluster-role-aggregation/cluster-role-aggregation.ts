/** Aggregates the rules of ClusterRoles with an aggregation rule. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { gatheredRules, isAggregated } from '../../../kinds/groups/access/rbac/aggregation.ts';
import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { type Plan, update } from '../../loop/plan.ts';

export const clusterRoleAggregationController: Controller = defineController({
  name: 'cluster-role-aggregation',
  account: 'clusterrole-aggregation-controller',
  watches: ClusterRole,
  // A changed role may have been aggregated before, or may be from now on.
  also: [related(ClusterRole, (_, listers) => aggregatedNames(listers))],
  plan: planClusterRoleAggregation,
});

function aggregatedNames(listers: Listers): string[] {
  const roles = listers.of(ClusterRole).list();
  return roles.filter(isAggregated).map(({ metadata }) => metadata.name ?? '');
}

export function planClusterRoleAggregation(role: DeepReadonly<ClusterRole> | undefined, world: Listers): Plan {
  if (!role || role.metadata.deletionTimestamp || !isAggregated(role)) return [];
  const rules = gatheredRules(role, world.of(ClusterRole).list());
  return deepEqual(rules, role.rules ?? []) ? [] : [update(ClusterRole, { ...role, rules })];
}
