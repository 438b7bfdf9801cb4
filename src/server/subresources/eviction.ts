import { badRequest } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { Eviction } from '../../kinds/policy/eviction.ts';
import type { DeleteOptions } from '../../kinds/shapes/delete-options.ts';
import { readBody } from '../objects/body.ts';
import { deletePlan } from '../objects/delete-options.ts';
import { removeObject } from '../objects/removal.ts';
import { success } from '../verbs/delete.ts';
import { named, type Subresource } from './subresource.ts';

/** Asks a pod to leave. Without a disruption budget in its way it is a delete. */
export const eviction: Subresource = {
  name: 'eviction',
  of: named('eviction'),
  verbs: {
    async create(core, resource, call) {
      const { namespace = '', name = '' } = call;
      const apiVersion = (call.body as { apiVersion?: unknown } | undefined)?.apiVersion;
      const asked = apiVersion === 'policy/v1beta1' ? 'policy/v1beta1' : 'policy/v1';
      const body = typeof call.body === 'object' && call.body ? { ...call.body, apiVersion: asked } : call.body;
      const expected = { kind: 'Eviction', apiVersion: asked, schema: Eviction.hub.schema };
      const sent = readBody(expected, { ...call, body }, core.registry) as KubeObject & {
        deleteOptions?: DeleteOptions;
      };
      if (sent.metadata.name && sent.metadata.name !== name)
        throw badRequest('name in URL does not match name in Eviction object');
      const plan = deletePlan({ ...call, body: sent.deleteOptions }, core.registry);
      const opening = { operation: 'CREATE', resource, object: sent, old: undefined, dryRun: plan.dryRun } as const;
      await core.admission.open(core, call, opening)?.run();
      await removeObject(core, resource, { namespace, name, plan });
      return success({ name, kind: 'pods' });
    },
  },
};
