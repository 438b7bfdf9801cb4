/** Who may come in, from the flags: client certificates, tokens, passwords, service accounts, and perhaps anybody. */
import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import type { Handle, User } from '../../server/api.ts';
import { type Authenticate, createAuthenticator } from '../../server/authn/authenticator.ts';
import { passwordFile } from '../../server/authn/password-file.ts';
import { serviceAccountTokens, type TokenSubject } from '../../server/authn/service-account.ts';
import { tokenFile } from '../../server/authn/token-file.ts';
import { CliError } from '../cli-error.ts';
import type { UpFlags } from './flags.ts';
import { LASTING_ISSUER } from './service-account-tokens.ts';

/** Whom tokens that are bound to a time are from, and for. */
const CLUSTER_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface AuthenticationOptions {
  readonly flags: Pick<UpFlags, 'tokenAuthFile' | 'basicAuthFile' | 'anonymousAuth'>;
  readonly clock: Clock;
  /** Signs service-account tokens: PEM. */
  readonly serviceAccountKey: string;
  readonly handle: Handle;
  /** Whom the lookups of accounts are made as. */
  readonly user: User;
}

export async function authentication(options: AuthenticationOptions): Promise<Authenticate> {
  const { flags, clock } = options;
  const accounts = serviceAccountTokens({
    keys: [createPublicKey(options.serviceAccountKey)],
    issuers: [LASTING_ISSUER, CLUSTER_ISSUER],
    audiences: [CLUSTER_ISSUER],
    clock,
    stillExists: (subject) => stillExists(options, subject),
  });
  const tokens = await fromFile(flags.tokenAuthFile, '--token-auth-file', tokenFile);
  const passwords = await fromFile(flags.basicAuthFile, '--basic-auth-file', passwordFile);
  return createAuthenticator({
    clock,
    tokens: tokens ? [tokens, accounts] : [accounts],
    passwords,
    anonymous: flags.anonymousAuth,
  });
}

/** Whose a bearer token is; undefined for one that is not good. */
export async function userOf(authenticate: Authenticate, token: string): Promise<User | undefined> {
  try {
    return await authenticate({ certificate: undefined, authorization: undefined, token });
  } catch (error) {
    if (isApiError(error, 'Unauthorized')) return undefined;
    throw error;
  }
}

/** Authorities that sign client certificates: our own, and those of the file. */
export async function clientAuthorities(own: string, file: string | undefined): Promise<string> {
  const given = await fromFile(file, '--client-ca-file', (text) => {
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no PEM certificate');
    return text;
  });
  return given === undefined ? own : `${own}${given}`;
}

async function fromFile<T>(file: string | undefined, flag: string, parse: (text: string) => T): Promise<T | undefined> {
  if (file === undefined) return undefined;
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CliError(`${flag} ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}

async function stillExists(options: AuthenticationOptions, subject: TokenSubject): Promise<boolean> {
  const { namespace, name, uid, secret, pod } = subject;
  const find = (plural: string, wanted: string) => uidOf(options, { plural, namespace, name: wanted });
  if ((await find('serviceaccounts', name)) !== uid) return false;
  if (secret !== undefined && (await find('secrets', secret)) === undefined) return false;
  return pod === undefined || (await find('pods', pod.name)) === pod.uid;
}

async function uidOf(
  { handle, user }: AuthenticationOptions,
  at: { plural: string; namespace: string; name: string },
): Promise<string | undefined> {
  try {
    const reply = await handle({ verb: 'get', apiVersion: 'v1', ...at, user });
    return reply.type === 'object' ? reply.item.object.metadata.uid : undefined;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}
