import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import { pathSegment } from '../../../schema/names.ts';
import { createdAt, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { selects } from '../../shapes/workload/workload-selector.ts';
import { ClusterRule } from './policy-rule.ts';
import { GROUP, versionsOf } from './versions.ts';

const RoleSelector = s.use(LabelSelector, { rules: [isUnderstood] });

const AggregationRule = s.object('AggregationRule', {
  clusterRoleSelectors: s.list(RoleSelector, {
    required: 'at least one clusterRoleSelector required if aggregationRule is non-nil',
    description: 'A ClusterRole that one of them selects gives its rules.',
  }),
});

/** What may be done in the whole cluster, or in any namespace that a RoleBinding gives it in. */
export const ClusterRole = defineKind({
  group: GROUP,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  description:
    'A set of permissions: a ClusterRoleBinding gives them everywhere, a RoleBinding in its own namespace only.',
  versions: versionsOf('ClusterRole'),
  fields: {
    rules: s.list(ClusterRule, { default: [], description: 'What is allowed; nothing is ever forbidden.' }),
    aggregationRule: s.use(AggregationRule, {
      description: 'The rules are gathered from other ClusterRoles; what is written into them by hand does not stay.',
    }),
  },
  name: pathSegment,
  createOnUpdate: true,
  columns: [name, createdAt],
});
export type ClusterRole = ObjectOf<typeof ClusterRole>;

function isUnderstood(selector: LabelSelector) {
  return selects(selector, undefined) === undefined ? invalid('', null, 'invalid label selector.') : undefined;
}
