import { s } from '../../../../schema/builders.ts';
import { invalid } from '../../../../schema/field-error.ts';
import { pathSegment } from '../../../../schema/names.ts';
import { createdAt, name } from '../../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { LabelSelector } from '../../../shapes/meta/label-selector.ts';
import { selects } from '../../../shapes/workload/workload-selector.ts';
import { ClusterRule } from './policy-rule.ts';

const RoleSelector = s.use(LabelSelector, { rules: [selectorIsValid] });

const AggregationRule = s.object('AggregationRule', 'Which ClusterRoles an aggregated role takes its rules from.', {
  clusterRoleSelectors: s.list(
    RoleSelector,
    'Label selectors for ClusterRoles; the rules of every role that matches at least one of them are included. At least one is required.',
    { required: 'at least one clusterRoleSelector required if aggregationRule is non-nil' },
  ),
});

/** Permissions that can be granted cluster-wide or in single namespaces. */
export const ClusterRole = defineKind({
  kind: 'ClusterRole',
  scope: 'Cluster',
  description:
    'A set of permissions that can be granted cluster-wide with a ClusterRoleBinding, or in single namespaces with RoleBindings.',
  versions: { 'rbac.authorization.k8s.io/v1': {}, 'rbac.authorization.k8s.io/v1beta1': {} },
  fields: {
    rules: s.list(
      ClusterRule,
      'Permissions of the role. They only ever allow; there are no deny rules. Overwritten by the controller if aggregationRule is set.',
      { default: [] },
    ),
    aggregationRule: s.use(
      AggregationRule,
      'Fills in rules from other ClusterRoles, selected by label. Manual changes to rules are then overwritten.',
    ),
  },
  name: pathSegment,
  createOnUpdate: true,
  columns: [name, createdAt],
});
export type ClusterRole = ObjectOf<typeof ClusterRole>;

function selectorIsValid(selector: LabelSelector) {
  return selects(selector, undefined) === undefined ? invalid('', null, 'invalid label selector.') : undefined;
}
