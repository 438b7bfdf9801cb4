/** Authentication: client certificates, tokens, passwords, service accounts, OpenID Connect, and anonymous requests. */

import type { Logger } from '../../../base/log.ts';
import type { Clock } from '../../../base/time/clock.ts';
import {
  type Authenticate,
  createAuthenticator,
  createIdentify,
  type Identify,
  type TokenSource,
} from '../../../server/access/authn/authenticator.ts';
import { bootstrapTokens } from '../../../server/access/authn/bootstrap-token.ts';
import type { Find } from '../../../server/access/authn/bound-objects.ts';
import { type RequestHeaderUser, requestHeaderUser } from '../../../server/access/authn/request-headers.ts';
import { ServiceAccountTokens } from '../../../server/access/authn/service-account-tokens.ts';
import type { AuthenticationFiles } from './authentication-files.ts';
import type { IdentityFlags } from './flags.ts';
import type { TokenSettings } from './service-account-tokens.ts';

export interface AuthenticationOptions {
  readonly settings: IdentityFlags;
  readonly files: AuthenticationFiles;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tokens: TokenSettings;
  readonly find: Find;
}

export interface Authentication {
  readonly authenticate: Authenticate;
  /** Finds the user of a token, for TokenReviews. */
  readonly identify: Identify;
}

export async function authentication(options: AuthenticationOptions): Promise<Authentication> {
  const { settings, files, clock, find, tokens } = options;
  const { audiences } = tokens;
  const oidc = await oidcTokens(options);
  const sources: TokenSource[] = [
    ...(files.tokens ? [files.tokens] : []),
    bootstrapTokens({ find, clock }),
    serviceAccountTokens(options),
    ...(oidc ? [oidc] : []),
  ];
  const { passwords } = files;
  return {
    authenticate: createAuthenticator({
      ...{ clock, tokens: sources, passwords, anonymous: settings.anonymousAuth },
      proxied: proxiedUsers(settings),
    }),
    identify: createIdentify(sources, audiences),
  };
}

function proxiedUsers(settings: IdentityFlags): RequestHeaderUser | undefined {
  if (settings.requestheaderClientCaFile === undefined) return undefined;
  return requestHeaderUser({
    allowedNames: settings.requestheaderAllowedNames ?? [],
    usernameHeaders: settings.requestheaderUsernameHeaders,
    groupHeaders: settings.requestheaderGroupHeaders,
    extraHeaderPrefixes: settings.requestheaderExtraHeadersPrefix,
  });
}

/** Tokens signed with the current keys. What was verified with others is forgotten when they change. */
function serviceAccountTokens({ clock, find, tokens }: AuthenticationOptions): TokenSource {
  let { keys } = tokens;
  const source = () => new ServiceAccountTokens({ ...tokens, keys, clock, find });
  let current = source();
  const latest = () => {
    if (keys !== tokens.keys) {
      keys = tokens.keys;
      current = source();
    }
    return current;
  };
  return {
    userOf: (token) => latest().userOf(token),
    review: (token, audiences) => latest().review(token, audiences),
  };
}

/** Loaded when there is an issuer. */
async function oidcTokens({ files, clock, log }: AuthenticationOptions): Promise<TokenSource | undefined> {
  if (!files.oidc) return undefined;
  const { ca, ...settings } = files.oidc;
  const [{ OidcTokens }, { fetchJson }] = await Promise.all([
    import('../../../server/access/authn/oidc.ts'),
    import('./fetch-json.ts'),
  ]);
  return new OidcTokens({ ...settings, fetchJson: (url) => fetchJson(url, { ca }), clock, log });
}
