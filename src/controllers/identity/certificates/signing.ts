/** Signs the requests for certificates that were approved, for those signers that are the cluster's own. */
import { timestamp } from '../../../base/timestamp.ts';
import { DerError } from '../../../base/x509/der-reader.ts';
import { type ParsedRequest, parseRequest } from '../../../base/x509/request.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/certificates/certificate-signing-request.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import { type Plan, updateStatus } from '../../loop/plan.ts';
import { conditionOf, isApproved, pemOf, type Request } from './request-state.ts';
import { signerRules } from './signer-rules.ts';
import { type Uses, usesOf } from './usages.ts';

/** What a certificate is to say. */
interface ToSign extends Uses {
  /** As they stand in the request: elements of DER. */
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly names: readonly Buffer[];
  /** How long it should last; whoever signs may give less. */
  readonly seconds: number | undefined;
}

/** Signs with the cluster's authority: the certificate as PEM. */
export type SignCertificate = (certificate: ToSign) => Promise<string>;

/** What came of a request: a certificate, or why there is none. */
export type Outcome = { readonly certificate: string } | { readonly failure: string };

export function signingController(sign: SignCertificate): Controller {
  return defineController<CertificateSigningRequest, Outcome | undefined>({
    name: 'csr-signing',
    account: 'certificate-controller',
    watches: CertificateSigningRequest,
    observe: async (request) => (request && isWaiting(request) ? outcomeOf(request, sign) : undefined),
    plan: planSigning,
  });
}

/** Approved, and neither signed nor given up. */
function isWaiting(request: Request): boolean {
  return (
    signerRules.has(request.spec.signerName) &&
    !request.status.certificate &&
    isApproved(request) &&
    conditionOf(request, 'Failed') === undefined
  );
}

export async function outcomeOf(request: Request, sign: SignCertificate): Promise<Outcome> {
  const { signerName, usages = [], expirationSeconds } = request.spec;
  const parsed = parsedOrFailure(request);
  if (typeof parsed === 'string') return { failure: parsed };
  const failure = signerRules.get(signerName)?.(parsed, usages);
  if (failure !== undefined) return { failure };
  const { subject, publicKey, names } = parsed;
  return { certificate: await sign({ subject, publicKey, names, ...usesOf(usages), seconds: expirationSeconds }) };
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
  { observed }: Pick<Snapshot<Outcome | undefined>, 'observed'>,
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
