import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../base/errors.ts';
import type { User } from '../api.ts';

/** Everyone who comes through the port without TLS. */
const UNSECURED: User = Object.freeze({
  name: 'system:unsecured',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * The port is for people and programs of this machine. A browser there shows pages from anywhere, and those must not use
 * it: neither under a name that was made to lead here, nor from a page that is somewhere else's. Throws a Forbidden.
 */
export function unsecuredUser({ host, origin }: IncomingHttpHeaders): User {
  if (host !== undefined && !LOOPBACK.test(host)) throw refusal(`the host ${JSON.stringify(host)}`);
  if (origin !== undefined && !LOOPBACK.test(origin.replace(/^https?:\/\//, ''))) {
    throw refusal(`pages of ${JSON.stringify(origin)}`);
  }
  return UNSECURED;
}

function refusal(what: string): ApiError {
  return new ApiError('Forbidden', `forbidden: the port without authentication is not for ${what}`, { details: {} });
}
