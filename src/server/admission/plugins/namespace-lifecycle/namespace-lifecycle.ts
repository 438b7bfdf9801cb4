import { ApiError, forbidden, notFound } from '../../../../base/errors.ts';
import { LocalSubjectAccessReview } from '../../../../kinds/groups/authorization/local-subject-access-review.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import type { Entry } from '../../../cache/entry.ts';
import type { Core } from '../../../core.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.ts';
import { nameOf, refused } from '../../refusal.ts';

const IMMORTAL: readonly string[] = ['default', 'kube-system', 'kube-public'];

/**
 * Nothing is created in a namespace that does not exist or is on its way out, and the namespaces that a cluster cannot be
 * without stay.
 */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  keepsDefaults: true,

  handles(kind, operation, subresource) {
    if (operation === 'DELETE') return kind === Namespace && !subresource;
    // What somebody may do in a namespace can be asked before it exists.
    return operation === 'CREATE' && kind.scope === 'Namespaced' && kind !== LocalSubjectAccessReview;
  },

  admit(core, request) {
    if (request.operation === 'DELETE') return keep(request);
    const namespace = find(core, request.namespace);
    return namespace ? checkActive(request, namespace) : lookAgain(core, request);
  },
};

function keep(request: AdmissionRequest): void {
  if (IMMORTAL.includes(request.name)) throw refused(request, 'this namespace may not be deleted');
}

function find(core: Core, name: string): Entry | undefined {
  return core.cache.table(Namespace).get('', name);
}

/** The namespace may be so new that this server has not seen it. */
async function lookAgain(core: Core, request: AdmissionRequest): Promise<void> {
  await core.cache.fresh();
  const namespace = find(core, request.namespace);
  if (!namespace) throw notFound(Namespace, request.namespace);
  checkActive(request, namespace);
}

/** Whoever empties the namespace once it is marked must find everything: what comes later than the mark is refused. */
function checkActive(request: AdmissionRequest, entry: Entry): void {
  const { metadata, status } = entry.hub(Namespace) as Namespace;
  if (!metadata.deletionTimestamp && status?.phase !== 'Terminating') {
    request.conditions.push({ key: entry.at.key, revision: entry.revision });
    return;
  }
  const { name: namespace = '' } = metadata;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const refusal = forbidden(request.kind, nameOf(request), why);
  throw new ApiError('Forbidden', refusal.message, {
    details: {
      ...refusal.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}
