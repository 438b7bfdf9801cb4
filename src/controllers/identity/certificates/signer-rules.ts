/** Rules of each signer for subjects, names and usages. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import type { ParsedRequest } from '../../../protocols/x509/request.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import { conditionOf } from '../../shared/conditions.ts';

export type Request = DeepReadonly<CertificateSigningRequest>;

const KUBE_APISERVER_CLIENT = 'kubernetes.io/kube-apiserver-client';
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown';

/** Reports whether the request is approved and neither denied nor failed. */
export function isApproved(request: Request): boolean {
  return conditionOf(request, 'Approved') !== undefined && conditionOf(request, 'Denied') === undefined;
}

export function pemOf({ spec }: Request): string {
  return Buffer.from(spec.request, 'base64').toString('latin1');
}

const PREFIX = 'system:node:';

type Rule = (request: ParsedRequest, usages: readonly string[]) => string | undefined;

/** Rules by signer. A rule returns why a request is not signed; undefined when it is. */
export const signerRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [KUBE_APISERVER_CLIENT, (_, usages) => clientUsages(usages)],
  [KUBELET_CLIENT, nodeClient],
  [KUBELET_SERVING, nodeServing],
  [LEGACY_UNKNOWN, () => undefined],
]);

function clientUsages(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !['client auth', 'digital signature', 'key encipherment'].includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

export function nodeClient(request: ParsedRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.addresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return nameError(request) ?? usageError(usages, 'client auth');
}

export function nodeServing(request: ParsedRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length === 0 && request.addresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usageError(usages, 'server auth') ?? nameError(request);
}

function isOfNodes({ organizations }: ParsedRequest): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

/** Rejects names that no node can have: another program may normalise them, and take them for the name of a node. */
function nameError({ commonName }: ParsedRequest): string | undefined {
  if (!commonName.startsWith(PREFIX)) return `subject common name does not begin with ${PREFIX}`;
  if (dnsSubdomain(commonName.slice(PREFIX.length)).length === 0) return undefined;
  return `subject common name has no valid name of a node after ${PREFIX}`;
}

/** Requires exactly the usages of the purpose; encipherment is optional, for keys that only sign. */
function usageError(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const wanted = ['digital signature', 'key encipherment', purpose].sort();
  const given = new Set(usages);
  const isLess = given.size === 2 && given.has('digital signature') && given.has(purpose);
  if (isLess || (given.size === 3 && wanted.every((usage) => given.has(usage)))) return undefined;
  return `usages did not match [${wanted.join(' ')}]`;
}
