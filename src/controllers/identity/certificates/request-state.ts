/** The state of a certificate request. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';

export type Request = DeepReadonly<CertificateSigningRequest>;

export const KUBE_APISERVER_CLIENT = 'kubernetes.io/kube-apiserver-client';
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown';

export function conditionOf({ status }: Request, type: 'Approved' | 'Denied' | 'Failed') {
  return status.conditions?.find((condition) => condition.type === type);
}

/** Reports whether the request is approved and neither denied nor failed. */
export function isApproved(request: Request): boolean {
  return conditionOf(request, 'Approved') !== undefined && conditionOf(request, 'Denied') === undefined;
}

export function pemOf({ spec }: Request): string {
  return Buffer.from(spec.request, 'base64').toString('latin1');
}
