/** Authentication: client certificates, tokens, passwords, service accounts, OpenID Connect, and anonymous requests. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import {
  type Authenticate,
  createAuthenticator,
  createIdentify,
  type Identify,
  type TokenSource,
} from '../../../server/authn/authenticator.ts';
import { bootstrapTokens } from '../../../server/authn/bootstrap-token.ts';
import type { Find } from '../../../server/authn/bound-objects.ts';
import { passwordFile } from '../../../server/authn/password-file.ts';
import { ServiceAccountTokens } from '../../../server/authn/service-account-tokens.ts';
import { tokenFile } from '../../../server/authn/token-file.ts';
import { CliError } from '../../output/cli-error.ts';
import type { IdentityFlags } from './flags.ts';
import type { TokenSettings } from './service-account-tokens.ts';

export interface AuthenticationOptions {
  readonly settings: IdentityFlags;
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
  const { settings, clock, find, tokens } = options;
  const { audiences } = tokens;
  const fixed = await fromFile(settings.tokenAuthFile, '--token-auth-file', tokenFile);
  const passwords = await fromFile(settings.basicAuthFile, '--basic-auth-file', passwordFile);
  const oidc = await oidcTokens(options);
  const sources: TokenSource[] = [
    ...(fixed ? [fixed] : []),
    bootstrapTokens({ find, clock }),
    serviceAccountTokens(options),
    ...(oidc ? [oidc] : []),
  ];
  return {
    authenticate: createAuthenticator({ clock, tokens: sources, passwords, anonymous: settings.anonymousAuth }),
    identify: createIdentify(sources, audiences),
  };
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
async function oidcTokens({ settings, clock, log, tokens }: AuthenticationOptions): Promise<TokenSource | undefined> {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim } = settings;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined) {
    throw new CliError('--oidc-issuer-url and --oidc-client-id must be given together');
  }
  if (tokens.issuers.includes(issuer)) {
    throw new CliError(`${issuer} cannot be the issuer of both service account tokens and ID tokens`);
  }
  const ca = await fromFile(settings.oidcCaFile, '--oidc-ca-file', certificates);
  const defaultPrefix = usernameClaim === 'email' ? '' : `${issuer}#`;
  const prefix = settings.oidcUsernamePrefix;
  const [{ OidcTokens }, { fetchJson }] = await Promise.all([
    import('../../../server/authn/oidc.ts'),
    import('./fetch-json.ts'),
  ]);
  return new OidcTokens({
    issuer,
    clientId,
    usernameClaim,
    usernamePrefix: prefix === '-' ? '' : (prefix ?? defaultPrefix),
    groupsClaim: settings.oidcGroupsClaim,
    groupsPrefix: settings.oidcGroupsPrefix === '-' ? '' : settings.oidcGroupsPrefix,
    requiredClaims: settings.oidcRequiredClaim ?? new Map(),
    algorithms: settings.oidcSigningAlgs,
    fetch: (url) => fetchJson(url, ca),
    clock,
    log,
  });
}

/** Authorities that sign client certificates: the cluster's own, and those of the file. */
export async function clientAuthorities(own: string, file: string | undefined): Promise<string> {
  const given = await fromFile(file, '--client-ca-file', certificates);
  return given === undefined ? own : `${own}${given}`;
}

function certificates(text: string): string {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no PEM certificate');
  return text;
}

async function fromFile<T>(file: string | undefined, flag: string, parse: (text: string) => T): Promise<T | undefined> {
  if (file === undefined) return undefined;
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CliError(`${flag} ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
