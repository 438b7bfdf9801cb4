import { Namespace } from '../../kinds/groups/core/namespace.ts';
import type { CallOptions } from '../api.ts';
import { type AdmittedForm, typeOf } from './form.ts';
import type { AdmissionOperation, AdmissionRequest } from './request.ts';

/** A request as webhooks and expressions see it, without its objects: an AdmissionRequest of `admission.k8s.io`. */
export function describeRequest(request: AdmissionRequest, form: AdmittedForm) {
  const { resource, subresource = '', user, operation, dryRun, kind, name } = request;
  const requested = resource.version;
  return {
    kind: form.type,
    resource: { group: form.version.group, version: form.version.version, resource: kind.plural },
    ...(subresource ? { subResource: subresource } : {}),
    requestKind: typeOf(request, requested),
    requestResource: { group: requested.group, version: requested.version, resource: kind.plural },
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(name ? { name } : {}),
    ...namespaceOf(request),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: user.groups,
      ...(user.extra ? { extra: user.extra } : {}),
    },
    dryRun,
    /** Rarely read. */
    get options() {
      return optionsOf(operation, request.options);
    },
  };
}

/** Requests for a Namespace are in it. */
function namespaceOf({ kind, namespace, name }: AdmissionRequest): { namespace?: string } {
  const own = kind === Namespace ? name : namespace;
  return own ? { namespace: own } : {};
}

const OPTIONS_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

function optionsOf(operation: AdmissionOperation, options: CallOptions = {}): object | null {
  if (operation === 'CONNECT') return null;
  const type = { kind: OPTIONS_KINDS[operation], apiVersion: 'meta.k8s.io/v1' };
  const { dryRun, fieldManager, fieldValidation, gracePeriodSeconds, propagationPolicy } = options;
  if (operation === 'DELETE') return { ...type, dryRun, gracePeriodSeconds, propagationPolicy };
  return { ...type, dryRun, fieldManager, fieldValidation };
}
