import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { SignCertificate } from '../../controllers/identity/certificates/signing.ts';

export interface AuthorityOptions {
  readonly certificate: string;
  readonly key: KeyObject;
  /** Milliseconds that what it signs lasts at most. */
  readonly longest: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Clocks of other machines may be behind: milliseconds. */
const BACKDATED = 5 * 60_000;
/** What lasts less than this gets its whole time; of longer lives the few minutes are no loss. */
const SHORT = 8 * 3_600_000;
const SHORTEST = 10 * 60_000;

/** Signs certificates that were asked for through the API. None outlives the authority. */
export function signingAuthority(options: AuthorityOptions): SignCertificate {
  const { certificate, key, longest, clock, random } = options;
  return async ({ seconds, ...content }) => {
    const { issuerOf, signCertificate } = await import('../../base/x509/certificate.ts');
    const now = clock.now();
    const asked = seconds === undefined ? longest : Math.min(longest, Math.max(SHORTEST, seconds * 1000));
    const end = Date.parse(new X509Certificate(certificate).validTo);
    if (now >= end) throw new Error(`the authority has expired on ${new Date(end).toISOString()}`);
    const validity = {
      notBefore: now - BACKDATED,
      notAfter: Math.min(end, now + asked - (asked < SHORT ? 0 : BACKDATED)),
    };
    return signCertificate({ ...content, ...validity, isAuthority: false }, issuerOf(certificate, key), random);
  };
}
