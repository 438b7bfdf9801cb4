import type { TLSSocket } from 'node:tls';
import type { User } from '../api.ts';
import { authenticated } from './authenticated.ts';

/** The identity in a connection's client certificate. */
export interface ClientCertificate {
  /** Undefined if our authority did not sign it or it is not a client certificate. */
  readonly user: User | undefined;
  /** Milliseconds since the epoch. A connection can outlive its certificate. */
  readonly expires: number;
}

/**
 * Reads a client certificate: the common name is the user's name, each organization a group. Parses the whole certificate,
 * so callers keep the result with the connection.
 */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  if (!certificate?.subject) return undefined;
  const expires = Date.parse(certificate.valid_to);
  // Go's x509 uses the last common name if there are several.
  const name = listOf(certificate.subject.CN).at(-1);
  if (!socket.authorized || !name || Number.isNaN(expires)) return { user: undefined, expires: 0 };
  return { user: authenticated({ name, groups: listOf(certificate.subject.O) }), expires };
}

/** An attribute that occurs several times in the subject is an array, although the types do not say so. */
function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
