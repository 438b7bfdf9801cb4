import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';

/** The user of every request on the port without TLS. */
const UNSECURED: User = Object.freeze({
  name: 'system:unsecured',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Accepts a request without authentication on the port without TLS, which is for local users and programs. Web pages in
 * a local browser must not use it: neither by DNS rebinding (another Host) nor across origins. Throws a Forbidden.
 */
export function unsecuredUser({ host, origin }: IncomingHttpHeaders): User {
  if (host !== undefined && !LOOPBACK.test(host)) throw rejection(`the host ${JSON.stringify(host)}`);
  if (origin !== undefined && !LOOPBACK.test(origin.replace(/^https?:\/\//, ''))) {
    throw rejection(`pages of ${JSON.stringify(origin)}`);
  }
  return UNSECURED;
}

function rejection(what: string): ApiError {
  return new ApiError('Forbidden', `forbidden: the port without authentication is not for ${what}`, { details: {} });
}
