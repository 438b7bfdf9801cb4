import type { CallOptions } from '../../../api/call.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { AdmissionOperation, AdmissionRequest } from '../../objects/admission/request.ts';
import { type AdmittedForm, typeOf } from './form.ts';

/**
 * Describes a request for webhooks and expressions, without its objects: an AdmissionRequest of `admission.k8s.io`.
 * Created for every request that an expression reads, so it always has the same fields; undefined ones count as absent.
 */
export function describeRequest(request: AdmissionRequest, form: AdmittedForm) {
  const { resource, subresource, user, operation, dryRun, kind, name, namespace } = request;
  const requested = resource.version;
  return {
    kind: form.type,
    resource: { group: form.version.group, version: form.version.version, resource: kind.plural },
    subResource: subresource,
    requestKind: typeOf(request, requested),
    requestResource: { group: requested.group, version: requested.version, resource: kind.plural },
    requestSubResource: subresource,
    name: name || undefined,
    // Requests for a Namespace are in it.
    namespace: (kind === Namespace ? name : namespace) || undefined,
    operation,
    userInfo: { username: user.name, uid: user.uid || undefined, groups: user.groups, extra: user.extra },
    dryRun,
    options: optionsOf(operation, request.options),
  };
}

const OPTIONS_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

const OPTIONS_VERSION = 'meta.k8s.io/v1';

function optionsOf(operation: AdmissionOperation, options: CallOptions = {}): object | null {
  if (operation === 'CONNECT') return null;
  const { dryRun, fieldManager, fieldValidation, gracePeriodSeconds, propagationPolicy } = options;
  const kind = OPTIONS_KINDS[operation];
  return operation === 'DELETE'
    ? { kind, apiVersion: OPTIONS_VERSION, dryRun, gracePeriodSeconds, propagationPolicy }
    : { kind, apiVersion: OPTIONS_VERSION, dryRun, fieldManager, fieldValidation };
}
