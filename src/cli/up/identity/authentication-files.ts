/** The files that authentication flags name, read and checked before anything is created. */

import type { OidcSettings } from '../../../assembly/control-plane/authentication.ts';
import { issuersOf } from '../../../assembly/control-plane/service-account-tokens.ts';
import { longName, propertyOf } from '../../../base/flag.ts';
import type { TokenSource } from '../../../server/access/authn/authenticator.ts';
import { passwordFile } from '../../../server/access/authn/files/password-file.ts';
import { tokenFile } from '../../../server/access/authn/files/token-file.ts';
import { certificates, fromFile } from '../../flags/file-content.ts';
import { CliError } from '../../output/cli-error.ts';
import { type IdentityFlags, identityFlags } from './flags.ts';

export interface AuthenticationFiles {
  readonly tokens: TokenSource | undefined;
  readonly passwords: ReturnType<typeof passwordFile> | undefined;
  readonly oidc: OidcSettings | undefined;
}

/** Rejects when a file cannot be used, or flags do not go together. */
export async function readAuthenticationFiles(settings: IdentityFlags): Promise<AuthenticationFiles> {
  await clientAuthorities('', settings.clientCaFile);
  await proxyAuthorities(settings);
  return {
    tokens: await authenticationFile.tokens(settings.tokenAuthFile),
    passwords: await authenticationFile.passwords(settings.basicAuthFile),
    oidc: await oidcSettings(settings),
  };
}

/** Reads the file of a flag; undefined when it is not given. */
export const authenticationFile = {
  tokens: (file: string | undefined) => ifNamed('--token-auth-file', file, tokenFile),
  passwords: (file: string | undefined) => ifNamed('--basic-auth-file', file, passwordFile),
};

/** Authorities that sign client certificates: the cluster's own, and those of the file. */
export async function clientAuthorities(own: string, file: string | undefined): Promise<string> {
  const given = await ifNamed('--client-ca-file', file, certificates);
  return given === undefined ? own : `${own}${given}`;
}

/** Authorities that sign certificates of authenticating proxies; undefined: there are none. */
export async function proxyAuthorities(settings: IdentityFlags): Promise<string | undefined> {
  const { requestheaderClientCaFile: file } = settings;
  if (file === undefined) rejectWithout('--requestheader-client-ca-file', '--requestheader-', settings);
  return ifNamed('--requestheader-client-ca-file', file, certificates);
}

/** Undefined when there is no issuer. */
async function oidcSettings(settings: IdentityFlags): Promise<OidcSettings | undefined> {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim } = settings;
  if (issuer === undefined && clientId === undefined) {
    rejectWithout('--oidc-issuer-url and --oidc-client-id', '--oidc-', settings);
    return undefined;
  }
  if (issuer === undefined || clientId === undefined) {
    throw new CliError('--oidc-issuer-url and --oidc-client-id must be given together');
  }
  if (issuersOf(settings.serviceAccountIssuer).includes(issuer)) {
    throw new CliError(`${issuer} cannot be the issuer of both service account tokens and ID tokens`);
  }
  const defaultPrefix = usernameClaim === 'email' ? '' : `${issuer}#`;
  const prefix = settings.oidcUsernamePrefix;
  return {
    issuer,
    clientId,
    usernameClaim,
    usernamePrefix: prefix === '-' ? '' : (prefix ?? defaultPrefix),
    groupsClaim: settings.oidcGroupsClaim,
    groupsPrefix: settings.oidcGroupsPrefix === '-' ? '' : settings.oidcGroupsPrefix,
    requiredClaims: settings.oidcRequiredClaim ?? new Map(),
    algorithms: settings.oidcSigningAlgs,
    ca: await ifNamed('--oidc-ca-file', settings.oidcCaFile, certificates),
  };
}

/** Flags that would have no effect were probably meant to have one. */
function rejectWithout(needed: string, prefix: string, settings: IdentityFlags): void {
  const flag = identityFlags.find(
    (each) =>
      longName(each).startsWith(prefix) &&
      String(settings[propertyOf(each) as keyof IdentityFlags]) !== String(each.default),
  );
  if (flag) throw new CliError(`${longName(flag)} needs ${needed}`);
}

async function ifNamed<T>(flag: string, file: string | undefined, parse: (text: string) => T): Promise<T | undefined> {
  return file === undefined ? undefined : fromFile(flag, file, parse);
}
