/** Signs approved certificate requests of the cluster's own signers. */
import { timestamp } from '../../../base/time/timestamp.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { DerError } from '../../../protocols/x509/der-reader.ts';
import { type ParsedRequest, parseRequest } from '../../../protocols/x509/request.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import { type Plan, updateStatus } from '../../loop/plan.ts';
import { conditionOf, isApproved, pemOf, type Request } from './request-state.ts';
import { signerRules } from './signer-rules.ts';
import { type CertificateUsages, usagesOf } from './usages.ts';

/** The content of a certificate to sign. */
interface ToSign extends CertificateUsages {
  /** DER elements copied from the request. */
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly names: readonly Buffer[];
  /** The requested lifetime; the signer may shorten it. */
  readonly seconds: number | undefined;
}

/** Signs with the cluster's authority; returns the certificate as PEM. */
export type SignCertificate = (certificate: ToSign) => Promise<string>;

/** The result of signing: a certificate, or the reason for failure. */
export type SigningOutcome = { readonly certificate: string } | { readonly failure: string };

export function signingController(sign: SignCertificate): Controller {
  return defineController<CertificateSigningRequest, SigningOutcome | undefined>({
    name: 'csr-signing',
    account: 'certificate-controller',
    watches: CertificateSigningRequest,
    observe: async (request) => (request && isWaiting(request) ? outcomeOf(request, sign) : undefined),
    plan: planSigning,
  });
}

/** Reports whether the request is approved and neither signed nor failed. */
function isWaiting(request: Request): boolean {
  return (
    signerRules.has(request.spec.signerName) &&
    !request.status.certificate &&
    isApproved(request) &&
    conditionOf(request, 'Failed') === undefined
  );
}

export async function outcomeOf(request: Request, sign: SignCertificate): Promise<SigningOutcome> {
  const { signerName, usages = [], expirationSeconds } = request.spec;
  const parsed = parsedOrFailure(request);
  if (typeof parsed === 'string') return { failure: parsed };
  const failure = signerRules.get(signerName)?.(parsed, usages);
  if (failure !== undefined) return { failure };
  const { subject, publicKey, names } = parsed;
  return { certificate: await sign({ subject, publicKey, names, ...usagesOf(usages), seconds: expirationSeconds }) };
}

function parsedOrFailure(request: Request): ParsedRequest | string {
  try {
    return parseRequest(pemOf(request));
  } catch (error) {
    if (error instanceof DerError) return error.message;
    throw error;
  }
}

export function planSigning(
  request: Request | undefined,
  { observed }: Pick<Snapshot<SigningOutcome | undefined>, 'observed'>,
  now: Date,
): Plan {
  if (!request || !observed || !isWaiting(request)) return [];
  if ('certificate' in observed) {
    const certificate = Buffer.from(observed.certificate).toString('base64');
    return [updateStatus(CertificateSigningRequest, { ...request, status: { ...request.status, certificate } })];
  }
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: observed.failure,
    lastUpdateTime: timestamp(now),
  };
  const conditions = [...(request.status.conditions ?? []), failed];
  return [updateStatus(CertificateSigningRequest, { ...request, status: { ...request.status, conditions } })];
}
