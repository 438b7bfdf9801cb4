import { ApiError, forbidden, notFound } from '../../../../../api/errors.ts';
import { LocalSubjectAccessReview } from '../../../../../kinds/groups/access/authorization/local-subject-access-review.ts';
import { Namespace } from '../../../../../kinds/groups/core/namespace.ts';
import { type AdmissionRequest, nameOf, rejected } from '../../../../objects/admission/request.ts';
import type { Entry } from '../../../../objects/cache/entry/entry.ts';
import type { Reader } from '../../../../objects/ports.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Reader, 'cache'>;

const PROTECTED_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Rejects creates in a namespace that does not exist or is being deleted, and deletes of the system namespaces. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  keepsDefaults: true,

  handles(kind, operation, subresource) {
    if (operation === 'DELETE') return kind === Namespace && !subresource;
    // A review of access may be about a namespace that does not exist yet.
    return operation === 'CREATE' && kind.scope === 'Namespaced' && kind !== LocalSubjectAccessReview;
  },

  admit(core, request) {
    if (request.operation === 'DELETE') return checkDeletable(request);
    const namespace = find(core, request.namespace);
    return namespace ? checkActive(request, namespace) : checkFresh(core, request);
  },
};

function checkDeletable(request: AdmissionRequest): void {
  if (PROTECTED_NAMESPACES.includes(request.name)) throw rejected(request, 'this namespace may not be deleted');
}

function find(core: Ports, name: string): Entry | undefined {
  return core.cache.table(Namespace).get('', name);
}

/** Checks again after the cache has caught up: another server may just have created the namespace. */
async function checkFresh(core: Ports, request: AdmissionRequest): Promise<void> {
  await core.cache.fresh();
  const namespace = find(core, request.namespace);
  if (!namespace) throw notFound(Namespace, request.namespace);
  checkActive(request, namespace);
}

/**
 * Rejects the create when the namespace is being deleted. The condition retries the transaction when the deletion
 * begins before the commit: the namespace controller must find everything that is in the namespace.
 */
function checkActive(request: AdmissionRequest, entry: Entry): void {
  const { metadata, status } = entry.hub(Namespace) as Namespace;
  if (!metadata.deletionTimestamp && status?.phase !== 'Terminating') {
    request.conditions.push({ key: entry.at.key, revision: entry.revision });
    return;
  }
  const { name: namespace = '' } = metadata;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const rejection = forbidden(request.kind, nameOf(request), why);
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
  throw new ApiError('Forbidden', rejection.message, { details: { ...rejection.details, causes } });
}
