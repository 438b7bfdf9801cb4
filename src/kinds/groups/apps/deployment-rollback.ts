/** The body of a Deployment's `rollback`: not an object of its own, but a request. */
import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { annotations } from '../../shapes/meta/object-meta-rules.ts';

export const RollbackConfig = s.object('RollbackConfig', {
  revision: s.int64({ omitZero: true, description: 'The revision to go back to; 0 or absent is the last one.' }),
});

/** In the words, and at the path, by which clients know it. */
const fromTheFirst: Rule = ({ rollbackTo: { revision = 0 } }) =>
  revision < 0 ? invalid('rollback.version', revision, 'must be greater than or equal to 0') : undefined;

export const DeploymentRollback = s.object(
  'DeploymentRollback',
  {
    kind: s.string(),
    apiVersion: s.string(),
    name: s.string({ required: 'name is required', description: 'The Deployment that goes back; as in the path.' }),
    updatedAnnotations: s.map(s.string(), {
      rules: [annotations],
      description: 'Annotations that the Deployment gets on this occasion.',
    }),
    rollbackTo: s.use(RollbackConfig, { zero: true, description: 'Where it goes back to.' }),
  },
  { rules: [fromTheFirst] },
);
export type DeploymentRollback = TypeOf<typeof DeploymentRollback>;
