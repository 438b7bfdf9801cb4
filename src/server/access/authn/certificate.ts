import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { User } from '../../../api/user.ts';
import { authenticated } from './authenticated.ts';

export interface ClientCertificate {
  /** The user; undefined if our authority did not sign the certificate or it is not a client certificate. */
  readonly user: User | undefined;
  /** The common name, if the certificate is signed by the authority of authenticating proxies. */
  readonly proxy?: string;
  /** Expiry in milliseconds since the epoch. A connection can outlive its certificate. */
  readonly expires: number;
}

/** The authorities that sign client certificates, as PEM. */
export interface ClientAuthorities {
  /** The authority of users. */
  readonly ca: string | Buffer;
  /** The authority of authenticating proxies; undefined: none is trusted. */
  readonly proxyCa?: string | undefined;
}

/**
 * Reads a client certificate: the common name is the user's name, each organization a group. Parses the whole certificate,
 * so callers keep the result with the connection.
 */
export function certificateOf(socket: TLSSocket, authorities: ClientAuthorities): ClientCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  if (!certificate?.subject) return undefined;
  const expires = Date.parse(certificate.valid_to);
  // Go's x509 uses the last common name if there are several.
  const name = listOf(certificate.subject.CN).at(-1);
  if (!socket.authorized || !name || Number.isNaN(expires)) return { user: undefined, expires: 0 };
  const id = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`;
  const extra = { 'authentication.kubernetes.io/credential-id': [id] };
  const user = authenticated({ name, groups: listOf(certificate.subject.O), extra });
  const { ca, proxyCa } = authorities;
  if (proxyCa === undefined) return { user, expires };
  // The connection was authorized by one of the two authorities: a proxy must not pass as the user of its name, nor a
  // user as a proxy.
  const shown = socket.getPeerX509Certificate();
  return {
    user: shown && isSignedBy(shown, String(ca)) ? user : undefined,
    ...(shown && isSignedBy(shown, proxyCa) ? { proxy: name } : {}),
    expires,
  };
}

const MAX_CHAIN_LENGTH = 8;

function isSignedBy(shown: X509Certificate, authorities: string): boolean {
  const known = (authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  let certificate: X509Certificate | undefined = shown;
  for (let i = 0; certificate && i < MAX_CHAIN_LENGTH; i++) {
    const at: X509Certificate = certificate;
    if (known.some((authority) => at.checkIssued(authority) && at.verify(authority.publicKey))) return true;
    certificate = at.issuerCertificate;
  }
  return false;
}

/** Normalizes an attribute of the subject: one that occurs several times is an array, contrary to the types. */
function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
