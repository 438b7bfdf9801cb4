/** Authentication: client certificates, tokens, passwords, service accounts, OpenID Connect, and anonymous requests. */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import {
  type Authentication,
  type AuthenticatorOptions,
  createAuthenticator,
  createIdentify,
  type TokenSource,
} from '../../server/access/authn/authenticator.ts';
import { bootstrapTokens } from '../../server/access/authn/tokens/bootstrap-token.ts';
import type { Find } from '../../server/access/authn/tokens/bound-objects.ts';
import type { OidcOptions } from '../../server/access/authn/tokens/oidc.ts';
import type { ServiceAccountTokenOptions } from '../../server/access/authn/tokens/service-account-tokens.ts';
import { ServiceAccountTokens } from '../../server/access/authn/tokens/service-account-tokens.ts';

export type AccountTokens = Pick<ServiceAccountTokenOptions, 'issuers' | 'audiences' | 'keys'>;

export interface AuthenticationOptions extends Pick<Tools, 'log'>, Omit<AuthenticatorOptions, 'tokens'> {
  /** Which tokens of service accounts are accepted; undefined: the cluster has none, and no bootstrap tokens. */
  readonly accounts?: AccountTokens | undefined;
  /** Tokens and passwords that the operator has listed. */
  readonly tokens?: TokenSource | undefined;
  readonly oidc?: OidcSettings | undefined;
}

export type OidcSettings = Omit<OidcOptions, 'fetchJson' | 'clock' | 'log'> & {
  /** PEM; undefined: those that Node trusts. */
  readonly ca: string | undefined;
};

/** Resolves with what authenticates for a server, by objects in its cache. */
export async function authentication(options: AuthenticationOptions): Promise<(find: Find) => Authentication> {
  const { clock, accounts, tokens, passwords, proxied, anonymous } = options;
  const oidc = await oidcTokens(options);
  return (find) => {
    const sources = [
      tokens,
      accounts && bootstrapTokens({ find, clock }),
      accounts && accountTokens(accounts, { find, clock }),
      oidc,
    ].filter((source) => source !== undefined);
    return {
      authenticate: createAuthenticator({ clock, tokens: sources, passwords, anonymous, proxied }),
      identify: createIdentify(sources, accounts?.audiences ?? []),
    };
  };
}

/** Tokens signed with the current keys. What was verified with others is forgotten when they change. */
function accountTokens(
  accounts: AccountTokens,
  cluster: { readonly find: Find; readonly clock: Clock },
): TokenSource & Required<Pick<TokenSource, 'review'>> {
  let current: { readonly keys: readonly KeyObject[]; readonly tokens: ServiceAccountTokens } | undefined;
  const latest = () => {
    const { issuers, audiences, keys } = accounts;
    if (current?.keys !== keys) {
      current = { keys, tokens: new ServiceAccountTokens({ issuers, audiences, keys, ...cluster }) };
    }
    return current.tokens;
  };
  return {
    userOf: (token) => latest().userOf(token),
    review: (token, audiences) => latest().review(token, audiences),
  };
}

/** Loaded when there is an issuer. */
async function oidcTokens({ oidc, clock, log }: AuthenticationOptions): Promise<TokenSource | undefined> {
  if (!oidc) return undefined;
  const { ca, ...settings } = oidc;
  const [{ OidcTokens }, { fetchJson }] = await Promise.all([
    import('../../server/access/authn/tokens/oidc.ts'),
    import('./fetch-json.ts'),
  ]);
  return new OidcTokens({ ...settings, fetchJson: (url) => fetchJson(url, { ca }), clock, log });
}
