import { clone } from '../../../base/json/tree.ts';
import type { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { readBody } from '../../objects/body/body.ts';
import { updatedPart } from '../../objects/registry/api-request.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { replyOf } from '../verbs/reply.ts';
import type { Subresource } from './subresource.ts';

/** Replaces the finalizers in the spec of a namespace. A deleted namespace is removed when no finalizer is left. */
export const finalize: Subresource<'finalize'> = {
  name: 'finalize',
  operations: {
    async update(core, request) {
      const { resource } = request;
      const sent = readBody(request, core.registry) as Namespace;
      const outcome = await transact(core, request, {
        type: 'update',
        part: updatedPart(request),
        next: (current) => {
          const namespace = clone(current.hub(resource.kind)) as Namespace;
          namespace.metadata.resourceVersion = sent.metadata.resourceVersion;
          const { finalizers: _, ...spec } = namespace.spec;
          const { finalizers } = sent.spec;
          namespace.spec = finalizers?.length ? { ...spec, finalizers } : spec;
          return namespace;
        },
      });
      return replyOf(resource, outcome);
    },
  },
  content: { type: 'object' },
  updates: 'any',
};
