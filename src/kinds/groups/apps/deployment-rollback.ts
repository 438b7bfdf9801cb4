/** The body of a Deployment's `rollback` subresource. It is never stored. */
import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { annotations } from '../../shapes/meta/object-meta-rules.ts';

export const RollbackConfig = s.object('RollbackConfig', 'Target of a rollback.', {
  revision: s.int64(
    'Revision number to roll back to, as counted by the annotation deployment.kubernetes.io/revision. 0, the default, means the revision before the current one.',
    { omitZero: true },
  ),
});

/** The path and the message are those of Kubernetes. */
const notNegative: Rule<{ readonly rollbackTo: TypeOf<typeof RollbackConfig> }> = ({ rollbackTo: { revision = 0 } }) =>
  revision < 0 ? invalid('rollback.version', revision, 'must be greater than or equal to 0') : undefined;

export const DeploymentRollback = s.object(
  'DeploymentRollback',
  "Request body of a Deployment's `rollback` subresource, which restores the pod template of an earlier revision. Available in the beta versions only; apps/v1 clients write the old template themselves.",
  {
    kind: s.string('Kind of this object: DeploymentRollback.'),
    apiVersion: s.string('API group and version of this object, such as apps/v1beta1.'),
    name: s.string("Name of the Deployment to roll back. Required; must be the one in the request's path.", {
      required: 'name is required',
    }),
    updatedAnnotations: s.map(s.string(), 'Annotations to set on the Deployment along with the rollback.', {
      rules: [annotations],
    }),
    rollbackTo: s.use(RollbackConfig, 'The revision to roll back to.', { zero: true }),
  },
  { rules: [notNegative] },
);
export type DeploymentRollback = TypeOf<typeof DeploymentRollback>;
