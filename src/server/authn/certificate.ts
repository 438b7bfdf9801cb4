import type { TLSSocket } from 'node:tls';
import type { User } from '../api.ts';
import { authenticated } from './authenticator.ts';

/** What a connection's client certificate says. */
export interface ClientCertificate {
  /** Undefined when the authority did not sign it, or it is not good for clients. */
  readonly user: User | undefined;
  /** Milliseconds since the epoch: a connection can outlive its certificate. */
  readonly expires: number;
}

/**
 * The common name is the user's name, each organization a group. Reads the whole certificate, so callers keep the result
 * with the connection.
 */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  if (!certificate?.subject) return undefined;
  const expires = Date.parse(certificate.valid_to);
  // Of several the last one: Go takes it for the name, and so does everybody who looks at it with Go.
  const name = listOf(certificate.subject.CN).at(-1);
  if (!socket.authorized || !name || Number.isNaN(expires)) return { user: undefined, expires: 0 };
  return { user: authenticated({ name, groups: listOf(certificate.subject.O) }), expires };
}

/** A name that stands several times in the subject comes as an array, whatever the types say. */
function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
