import { badRequest, notFound } from '../../../api/errors.ts';
import { clone } from '../../../base/json/tree.ts';
import {
  ROLLBACK_ANNOTATION,
  ROLLBACK_UPDATED_ANNOTATION,
  rollbackUpdated,
} from '../../../kinds/conversion/rollback-to.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { DeploymentRollback } from '../../../kinds/groups/apps/deployment-rollback.ts';
import { validate } from '../../../schema/validate.ts';
import { readBody } from '../../objects/body/body.ts';
import { invalidObject } from '../../objects/body/check.ts';
import { updatedPart } from '../../objects/registry/registry.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { success } from '../verbs/reply.ts';
import type { Subresource } from './subresource.ts';

const KIND = 'DeploymentRollback';

/** Annotates a Deployment with an earlier revision; its controller rolls back to it and removes the annotations. */
export const rollback: Subresource<'rollback'> = {
  name: 'rollback',
  operations: {
    async create(core, request) {
      const { resource, call } = request;
      const sent = readBody(request, core.registry) as unknown as DeploymentRollback;
      const { apiVersion } = call;
      const context = { operation: 'create', old: undefined, subresource: undefined, apiVersion } as const;
      const errors = validate(DeploymentRollback, sent, context);
      if (errors.length > 0) throw invalidObject({ group: resource.kind.group, kind: KIND }, sent.name ?? '', errors);
      if (sent.name !== call.name) {
        const { namespace = '' } = call;
        if (!core.cache.table(resource.kind).get(namespace, sent.name)) throw notFound(resource.kind, sent.name);
        throw badRequest(`the name of the object (${sent.name}) does not match the name on the URL (${call.name})`);
      }
      await transact(core, request, {
        type: 'update',
        part: updatedPart(request),
        next: (current) => {
          const deployment = clone(current.hub(resource.kind)) as Deployment;
          delete deployment.metadata.resourceVersion;
          const { annotations } = deployment.metadata;
          const updated = new Set([...rollbackUpdated(annotations), ...Object.keys(sent.updatedAnnotations ?? {})]);
          deployment.metadata.annotations = {
            ...annotations,
            ...sent.updatedAnnotations,
            [ROLLBACK_ANNOTATION]: String(sent.rollbackTo?.revision ?? 0),
            ...(updated.size > 0 ? { [ROLLBACK_UPDATED_ANNOTATION]: JSON.stringify([...updated]) } : {}),
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
  content: { type: 'body', of: (_, { apiVersion }) => ({ kind: KIND, apiVersion, schema: DeploymentRollback }) },
  updates: 'any',
};
