/** Identities and permissions, for operations that use them. */
import type { Identify } from './authn/authenticator.ts';
import type { TokenIssuer } from './authn/tokens/token-issuer.ts';
import type { Authorizer } from './authz/authorizer.ts';
import type { Rbac } from './authz/rbac/rbac.ts';

export interface Access {
  readonly authorizer: Authorizer;
  /** Evaluates roles and bindings, even when another authorizer decides. */
  readonly rbac: Rbac;
  /** Authenticates a bearer token: its user and audiences. */
  readonly identify: Identify;
  /** Issues tokens of service accounts; undefined when the subresource `token` is not served. */
  readonly tokenIssuer: TokenIssuer | undefined;
}
