import { badRequest, notFound } from '../../base/errors.ts';
import { clone } from '../../base/tree.ts';
import { ROLLBACK_ANNOTATION } from '../../kinds/conversion/rollback-to.ts';
import type { Deployment } from '../../kinds/groups/apps/deployment.ts';
import { DeploymentRollback } from '../../kinds/groups/apps/deployment-rollback.ts';
import { validate } from '../../schema/validate.ts';
import { readBody } from '../objects/body.ts';
import { invalidObject } from '../objects/check.ts';
import { transact } from '../transaction/transaction.ts';
import { success } from '../verbs/reply.ts';
import { named, type Subresource } from './subresource.ts';

/** Asks for the rollback of a Deployment, with an annotation that its controller acts on and removes. */
export const rollback: Subresource = {
  name: 'rollback',
  of: named('rollback'),
  verbs: {
    async create(core, request) {
      const { resource, call } = request;
      const expected = { kind: 'DeploymentRollback', apiVersion: call.apiVersion, schema: DeploymentRollback };
      const sent = readBody(expected, request, core.registry) as unknown as DeploymentRollback;
      const errors = validate(DeploymentRollback, sent, {
        operation: 'create',
        old: undefined,
        subresource: undefined,
        apiVersion: call.apiVersion,
      });
      const what = { group: resource.kind.group, kind: 'DeploymentRollback' };
      if (errors.length > 0) throw invalidObject(what, sent.name ?? '', errors);
      if (sent.name !== call.name) {
        const { namespace = '' } = call;
        if (!core.cache.table(resource.kind).get(namespace, sent.name)) throw notFound(resource.kind, sent.name);
        throw badRequest(`the name of the object (${sent.name}) does not match the name on the URL (${call.name})`);
      }
      await transact(core, request, {
        type: 'update',
        part: 'any',
        next: (current) => {
          const deployment = clone(current.hub(resource.kind)) as Deployment;
          delete deployment.metadata.resourceVersion;
          deployment.metadata.annotations = {
            ...deployment.metadata.annotations,
            ...sent.updatedAnnotations,
            [ROLLBACK_ANNOTATION]: String(sent.rollbackTo?.revision ?? 0),
          };
          return deployment;
        },
      });
      const { group, plural } = resource.kind;
      return success(
        { name: sent.name, group, kind: plural },
        `rollback request for deployment "${sent.name}" succeeded`,
      );
    },
  },
};
