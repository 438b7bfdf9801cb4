/** The body of a Deployment's `rollback` subresource. It is never stored. */
import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { annotations } from '../../shapes/meta/object-meta-rules.ts';

export const RollbackConfig = s.object(
  'RollbackConfig',
  {
    revision: s.int64({
      omitZero: true,
      description:
        'Revision number to roll back to, as counted by the annotation deployment.kubernetes.io/revision. 0, the default, means the revision before the current one.',
    }),
  },
  { description: 'Target of a rollback.' },
);

/** The path and the message are those of Kubernetes. */
const notNegative: Rule<{ readonly rollbackTo: TypeOf<typeof RollbackConfig> }> = ({ rollbackTo: { revision = 0 } }) =>
  revision < 0 ? invalid('rollback.version', revision, 'must be greater than or equal to 0') : undefined;

export const DeploymentRollback = s.object(
  'DeploymentRollback',
  {
    kind: s.string({ description: 'Kind of this object: DeploymentRollback.' }),
    apiVersion: s.string({ description: 'API group and version of this object, such as apps/v1beta1.' }),
    name: s.string({
      required: 'name is required',
      description: "Name of the Deployment to roll back. Required; must be the one in the request's path.",
    }),
    updatedAnnotations: s.map(s.string(), {
      rules: [annotations],
      description: 'Annotations to set on the Deployment along with the rollback.',
    }),
    rollbackTo: s.use(RollbackConfig, { zero: true, description: 'The revision to roll back to.' }),
  },
  {
    rules: [notNegative],
    description:
      "Request body of a Deployment's `rollback` subresource, which restores the pod template of an earlier revision. Available in the beta versions only; apps/v1 clients write the old template themselves.",
  },
);
export type DeploymentRollback = TypeOf<typeof DeploymentRollback>;
