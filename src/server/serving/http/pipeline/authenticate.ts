import type { User } from '../../../../api/user.ts';
import { ANONYMOUS, type Authenticate } from '../../../access/authn/authenticator.ts';
import { unsecuredUser } from '../../../access/authn/unsecured.ts';
import type { Exchange } from '../../exchange.ts';

/**
 * Public paths, which reveal only that the server runs and its release. Without credentials they are served
 * anonymously.
 */
const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** Authenticates the sender of a request. Throws, or rejects with, an Unauthorized. */
export function authenticateStage(options: { readonly authenticate: Authenticate }) {
  return (exchange: Exchange, path: string): User | Promise<User> => {
    if (exchange.peer.isUnsecured) return unsecuredUser(exchange.headers);
    return PUBLIC_PATHS.has(path) && !hasCredentials(exchange) ? ANONYMOUS : options.authenticate(exchange);
  };
}

function hasCredentials({ certificate, authorization, token }: Exchange): boolean {
  return certificate !== undefined || Boolean(authorization) || Boolean(token);
}
