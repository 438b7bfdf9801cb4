import type { User } from '../../../../api/user.ts';
import { ANONYMOUS, type Authenticate } from '../../../access/authn/authenticator.ts';
import { unsecuredUser } from '../../../access/authn/unsecured.ts';
import type { Exchange } from '../../exchange.ts';

/** Paths that reveal only that the server runs and which release it is. Without credentials they are anonymous. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** Finds out who sent a request. Throws, or rejects with, an Unauthorized. */
export function authenticateStage(options: { readonly authenticate: Authenticate }) {
  return (exchange: Exchange, path: string): User | Promise<User> => {
    if (exchange.peer.isUnsecured) return unsecuredUser(exchange.headers);
    return PUBLIC_PATHS.has(path) && !hasCredentials(exchange) ? ANONYMOUS : options.authenticate(exchange);
  };
}

function hasCredentials({ certificate, authorization, token }: Exchange): boolean {
  return certificate !== undefined || Boolean(authorization) || Boolean(token);
}
