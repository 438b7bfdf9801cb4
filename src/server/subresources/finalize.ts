import { clone } from '../../base/tree.ts';
import { expectedBody, readBody } from '../objects/body.ts';
import { transact } from '../transaction/transaction.ts';
import { replyOf } from '../verbs/reply.ts';
import { named, type Subresource } from './subresource.ts';

/** Sets the finalizers of a namespace, and nothing else. A namespace that is being deleted is gone with the last one. */
export const finalize: Subresource = {
  name: 'finalize',
  of: named('finalize'),
  verbs: {
    async update(core, request) {
      const { resource } = request;
      const sent: any = readBody(expectedBody(resource), request, core.registry);
      const outcome = await transact(core, request, {
        type: 'update',
        part: 'any',
        next: (current) => {
          const object: any = clone(current.hub(resource.kind));
          object.metadata.resourceVersion = sent.metadata.resourceVersion;
          object.spec = { ...object.spec, finalizers: sent.spec?.finalizers };
          if (!object.spec.finalizers?.length) delete object.spec.finalizers;
          return object;
        },
      });
      return replyOf(resource, outcome);
    },
  },
};
