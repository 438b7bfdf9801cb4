import { ApiError } from '../../../api/errors.ts';
import { clone } from '../../../base/json/tree.ts';
import type { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { readBody } from '../../objects/body/body.ts';
import { unknownContent } from '../../objects/reads/unknown-content.ts';
import { updatedPart } from '../../objects/registry/registry.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import type { OperationPorts } from '../ports.ts';
import { replyOf } from '../verbs/reply.ts';
import type { Subresource } from './subresource.ts';

/** Throws when the namespace has objects that would remain without anybody knowing of them. */
async function checkContent(core: OperationPorts, name: string): Promise<void> {
  await core.cache.fresh();
  const unknown = unknownContent(core, name);
  if (unknown.length === 0) return;
  const why = `${unknown.join(', ')}; finalize it over a server of the release that stored them`;
  throw new ApiError('Conflict', `namespace "${name}" cannot be finalized: ${why}`);
}

/** Replaces the finalizers in the spec of a namespace. A deleted namespace is removed when no finalizer is left. */
export const finalize: Subresource<'finalize'> = {
  name: 'finalize',
  operations: {
    async update(core, request) {
      const { resource, call } = request;
      const sent = readBody(request, core.registry) as Namespace;
      if (!sent.spec.finalizers?.length) await checkContent(core, call.name ?? '');
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
