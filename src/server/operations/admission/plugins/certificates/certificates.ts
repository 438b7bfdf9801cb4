import { deepEqual } from '../../../../../base/json/tree.ts';
import { CertificateSigningRequest } from '../../../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { ClusterTrustBundle } from '../../../../../kinds/groups/access/certificates/cluster-trust-bundle.ts';
import { DerError } from '../../../../../protocols/x509/der.ts';
import { type ParsedRequest, parseRequest } from '../../../../../protocols/x509/request.ts';
import type { Access } from '../../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

type Ports = Pick<Access, 'authorizer'>;

type Request = CertificateSigningRequest;

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** Allows only users with the permission `approve` for the signer to approve or deny a request. */
export const certificateApproval: AdmissionPlugin = {
  name: 'CertificateApproval',

  handles: (kind, operation, subresource) =>
    kind === CertificateSigningRequest && operation === 'UPDATE' && subresource === 'approval',

  validate: (core, request) => require(core, request, 'approve'),
};

/** Allows only users with the permission `sign` for the signer to set the certificate of a request. */
export const certificateSigning: AdmissionPlugin = {
  name: 'CertificateSigning',

  handles: (kind, operation, subresource) =>
    kind === CertificateSigningRequest && operation === 'UPDATE' && subresource === 'status',

  validate(core, request) {
    const [now, before] = [request.object as Request, request.old as Request];
    const isSame =
      now.status.certificate === before.status.certificate &&
      deepEqual(now.status.conditions ?? [], before.status.conditions ?? []);
    return isSame ? undefined : require(core, request, 'sign');
  },
};

/** Rejects requests for client certificates of the group `system:masters`. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',

  handles: (kind, operation, subresource) =>
    kind === CertificateSigningRequest && operation === 'CREATE' && !subresource,

  validate(_, request) {
    const { spec } = request.object as Request;
    if (spec.signerName !== CLIENT_SIGNER) return;
    if (!parsed(request, spec.request).organizations.includes(MASTERS)) return;
    throw rejected(request, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

/** Allows only users with the permission `attest` for the signer to write its trust bundles. */
export const clusterTrustBundleAttest: AdmissionPlugin = {
  name: 'ClusterTrustBundleAttest',

  handles: (kind, operation, subresource) =>
    kind === ClusterTrustBundle && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  validate(core, request) {
    const [now, before] = [request.object as ClusterTrustBundle, request.old as ClusterTrustBundle | undefined];
    const { signerName } = now.spec;
    if (signerName === undefined || (before && deepEqual(now.spec, before.spec))) return undefined;
    const text = `user not permitted to attest for signerName ${JSON.stringify(signerName)}`;
    return requireFor(core, request, { verb: 'attest', signerName, text });
  },
};

function require(core: Ports, request: AdmissionRequest, verb: 'approve' | 'sign'): Promise<void> {
  const { signerName } = (request.old as Request).spec;
  const text = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`;
  return requireFor(core, request, { verb, signerName, text });
}

interface SignerRight {
  readonly verb: 'approve' | 'attest' | 'sign';
  readonly signerName: string;
  /** The reason for rejecting a user without the permission. */
  readonly text: string;
}

/** The permission for `example.com/*` covers all signers of the domain. */
async function requireFor(
  core: Ports,
  request: AdmissionRequest,
  { verb, signerName, text }: SignerRight,
): Promise<void> {
  const signers = { group: 'certificates.k8s.io', version: '*', resource: 'signers', subresource: '', namespace: '' };
  for (const name of [signerName, `${signerName.split('/')[0]}/*`]) {
    const { verdict } = await core.authorizer.authorize({ user: request.user, verb, name, ...signers });
    if (verdict === 'allow') return;
  }
  throw rejected(request, text);
}

function parsed(request: AdmissionRequest, base64: string): ParsedRequest {
  try {
    return parseRequest(Buffer.from(base64, 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof DerError) throw rejected(request, `failed to parse CSR: ${error.message}`);
    throw error;
  }
}
