/** The files that authentication flags name, read and checked before anything is created. */
import { readFile } from 'node:fs/promises';
import { longName, propertyOf } from '../../../base/flag.ts';
import type { TokenSource } from '../../../server/authn/authenticator.ts';
import type { OidcOptions } from '../../../server/authn/oidc.ts';
import { passwordFile } from '../../../server/authn/password-file.ts';
import { tokenFile } from '../../../server/authn/token-file.ts';
import { CliError } from '../../output/cli-error.ts';
import { type IdentityFlags, identityFlags } from './flags.ts';
import { issuersOf } from './service-account-tokens.ts';

export interface AuthenticationFiles {
  readonly tokens: TokenSource | undefined;
  readonly passwords: ReturnType<typeof passwordFile> | undefined;
  readonly oidc: OidcSettings | undefined;
}

type OidcSettings = Omit<OidcOptions, 'fetch' | 'clock' | 'log'> & {
  /** PEM; undefined: those that Node trusts. */
  readonly ca: string | undefined;
};

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
  tokens: (file: string | undefined) => fromFile(file, '--token-auth-file', tokenFile),
  passwords: (file: string | undefined) => fromFile(file, '--basic-auth-file', passwordFile),
};

/** Authorities that sign client certificates: the cluster's own, and those of the file. */
export async function clientAuthorities(own: string, file: string | undefined): Promise<string> {
  const given = await fromFile(file, '--client-ca-file', certificates);
  return given === undefined ? own : `${own}${given}`;
}

/** Authorities that sign certificates of authenticating proxies; undefined: there are none. */
export async function proxyAuthorities(settings: IdentityFlags): Promise<string | undefined> {
  const { requestheaderClientCaFile: file } = settings;
  if (file === undefined) refuseWithout('--requestheader-client-ca-file', '--requestheader-', settings);
  return fromFile(file, '--requestheader-client-ca-file', certificates);
}

/** Undefined when there is no issuer. */
async function oidcSettings(settings: IdentityFlags): Promise<OidcSettings | undefined> {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernameClaim: usernameClaim } = settings;
  if (issuer === undefined && clientId === undefined) {
    refuseWithout('--oidc-issuer-url and --oidc-client-id', '--oidc-', settings);
    return undefined;
  }
  if (issuer === undefined || clientId === undefined) {
    throw new CliError('--oidc-issuer-url and --oidc-client-id must be given together');
  }
  if (issuersOf(settings).includes(issuer)) {
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
    ca: await fromFile(settings.oidcCaFile, '--oidc-ca-file', certificates),
  };
}

/** Flags that would have no effect were probably meant to have one. */
function refuseWithout(needed: string, prefix: string, settings: IdentityFlags): void {
  const flag = identityFlags.find(
    (each) =>
      longName(each).startsWith(prefix) &&
      String(settings[propertyOf(each) as keyof IdentityFlags]) !== String(each.default),
  );
  if (flag) throw new CliError(`${longName(flag)} needs ${needed}`);
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
