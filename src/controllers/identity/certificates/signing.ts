/** Signs approved certificate requests of the cluster's own signers. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { timestamp } from '../../../base/time/timestamp.ts';
import type { Tools } from '../../../base/tools.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { DerError } from '../../../protocols/x509/der.ts';
import { type ParsedRequest, parseRequest } from '../../../protocols/x509/request.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import { type Plan, updateStatus } from '../../loop/plan.ts';
import { conditionOf } from '../../shared/conditions.ts';
import { isApproved, pemOf, type Request, signerRules } from './signer-rules.ts';

/** The content of a certificate to sign. */
interface ToSign extends CertificateUsages, Pick<ParsedRequest, 'subject' | 'publicKey' | 'names'> {
  /** The requested lifetime; the signer may shorten it. */
  readonly seconds: number | undefined;
}

/** Signs with the cluster's authority; returns the certificate as PEM. */
export type SignCertificate = (certificate: ToSign) => Promise<string>;

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

const keyUsages: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

const PURPOSE = '1.3.6.1.5.5.7.3';
const purposes: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': `${PURPOSE}.1`,
  'client auth': `${PURPOSE}.2`,
  'code signing': `${PURPOSE}.3`,
  'email protection': `${PURPOSE}.4`,
  's/mime': `${PURPOSE}.4`,
  'ipsec end system': `${PURPOSE}.5`,
  'ipsec tunnel': `${PURPOSE}.6`,
  'ipsec user': `${PURPOSE}.7`,
  timestamping: `${PURPOSE}.8`,
  'ocsp signing': `${PURPOSE}.9`,
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

interface CertificateUsages {
  readonly keyUsages: readonly number[];
  readonly purposes: readonly string[];
}

/** Returns usages without duplicates; the server accepts no other names. */
function usagesOf(words: readonly string[]): CertificateUsages {
  const found = <T>(table: Readonly<Record<string, T>>) => [
    ...new Set(words.flatMap((word) => (Object.hasOwn(table, word) ? [table[word] as T] : []))),
  ];
  return { keyUsages: found(keyUsages), purposes: found(purposes).sort() };
}

interface AuthorityOptions extends Pick<Tools, 'clock' | 'random'> {
  readonly certificate: string;
  readonly key: KeyObject;
  /** Maximum lifetime of a certificate, in milliseconds. */
  readonly maxLifetime: number;
}

/** Certificates are valid from this long ago, because clocks of other machines may be slow. */
const BACKDATED_MS = 5 * 60_000;
/** Certificates with a shorter lifetime get all of it from now on; longer ones lose the time they are backdated by. */
const SHORT_LIFETIME_MS = 8 * 3_600_000;
const MIN_LIFETIME_MS = 10 * 60_000;

/** Signs certificates for CertificateSigningRequests. None outlives the authority. */
export function signingAuthority(options: AuthorityOptions): SignCertificate {
  const { certificate, key, maxLifetime, clock, random } = options;
  return async ({ seconds, ...content }) => {
    const { issuerOf, signCertificate } = await import('../../../protocols/x509/certificate.ts');
    const now = clock.now();
    const lifetime =
      seconds === undefined ? maxLifetime : Math.min(maxLifetime, Math.max(MIN_LIFETIME_MS, seconds * 1000));
    const end = Date.parse(new X509Certificate(certificate).validTo);
    if (now >= end) throw new Error(`the certificate authority expired on ${new Date(end).toISOString()}`);
    const validity = {
      notBefore: now - BACKDATED_MS,
      notAfter: Math.min(end, now + lifetime - (lifetime < SHORT_LIFETIME_MS ? 0 : BACKDATED_MS)),
    };
    return signCertificate({ ...content, ...validity, isAuthority: false }, issuerOf(certificate, key), random);
  };
}
