import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { SignCertificate } from './signing.ts';

export interface AuthorityOptions {
  readonly certificate: string;
  readonly key: KeyObject;
  /** Maximum lifetime of a certificate, in milliseconds. */
  readonly maxLifetime: number;
  readonly clock: Clock;
  readonly random: Random;
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
