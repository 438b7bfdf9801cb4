/** Access tokens of Google: for a service account, or for the account of the machine. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { DnsError } from '../../provider.ts';
import { httpCall, jsonObject } from '../http.ts';

export interface ServiceAccount {
  readonly email: string;
  readonly projectId: string | undefined;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  readonly tokenUrl: string;
}

export interface AccessTokens {
  /** A token that has not expired. */
  get(signal: AbortSignal): Promise<string>;
  /** Called with a token that was refused: it is not used again. */
  forget(token: string): void;
}

const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const DEFAULT_TOKEN_URL = 'https://oauth2.googleapis.com/token';
const LIFETIME_SECONDS = 3_600;
/** A token is renewed this long before it ends. */
const EARLY_MS = 60_000;
const METADATA_HEADERS = { 'metadata-flavor': 'Google' };

/** Reads the JSON file of a service account's key, as Google hands it out. Throws a DnsError. */
export function readServiceAccount(text: string): ServiceAccount {
  const fail = (problem: string, cause?: unknown) =>
    new DnsError('Invalid', `the service account: ${problem}`, { cause });
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(text);
  } catch (cause) {
    throw fail('the key is not JSON', cause);
  }
  const { type, client_email, private_key, private_key_id, project_id, token_uri } = fields;
  if (type !== 'service_account') throw fail('the file is not the key of a service account');
  if (typeof client_email !== 'string' || typeof private_key !== 'string') {
    throw fail('client_email or private_key is missing');
  }
  try {
    const key = createPrivateKey(private_key);
    if (key.asymmetricKeyType !== 'rsa') throw new Error('it is not an RSA key');
    return {
      email: client_email,
      key,
      keyId: typeof private_key_id === 'string' ? private_key_id : undefined,
      projectId: typeof project_id === 'string' ? project_id : undefined,
      tokenUrl: typeof token_uri === 'string' ? token_uri : DEFAULT_TOKEN_URL,
    };
  } catch (cause) {
    throw fail(`private_key cannot be read: ${(cause as Error).message}`, cause);
  }
}

export function serviceAccountTokens(account: ServiceAccount, now: () => number): AccessTokens {
  const { email, key, keyId, tokenUrl } = account;
  return cached(now, async (signal) => {
    const issued = Math.floor(now() / 1000);
    const assertion = signedToken(
      JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: keyId }),
      JSON.stringify({ iss: email, scope: SCOPE, aud: tokenUrl, iat: issued, exp: issued + LIFETIME_SECONDS }),
      key,
    );
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return tokenOf(await httpCall({ url: tokenUrl, method: 'POST', headers, body, signal }));
  });
}

/** Tokens of the account that a machine of Google's cloud runs with. */
export function machineTokens(metadataUrl: string, now: () => number): AccessTokens {
  const url = `${metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`;
  return cached(now, async (signal) => tokenOf(await httpCall({ url, headers: METADATA_HEADERS, signal })));
}

/** The project of a machine of Google's cloud. */
export async function machineProject(metadataUrl: string, signal: AbortSignal): Promise<string> {
  const url = `${metadataUrl}/computeMetadata/v1/project/project-id`;
  const { status, body } = await httpCall({ url, headers: METADATA_HEADERS, signal });
  if (status !== 200)
    throw new DnsError('Forbidden', `the metadata server answers with ${status}: is project-id missing?`);
  return body.trim();
}

interface Token {
  readonly token: string;
  readonly lifetimeSeconds: number;
}

function tokenOf({ status, body }: { readonly status: number; readonly body: string }): Token {
  const { access_token, expires_in, error, error_description } = jsonObject(body) ?? {};
  if (status === 200 && typeof access_token === 'string') {
    return { token: access_token, lifetimeSeconds: typeof expires_in === 'number' ? expires_in : LIFETIME_SECONDS };
  }
  const reason = status >= 500 || status === 429 ? 'Unavailable' : 'Forbidden';
  throw new DnsError(reason, `Google gives no token (${status}): ${error_description ?? error ?? body.slice(0, 200)}`);
}

function cached(now: () => number, fetchToken: (signal: AbortSignal) => Promise<Token>): AccessTokens {
  let current: { readonly token: string; readonly until: number } | undefined;
  return {
    async get(signal) {
      if (current && now() < current.until) return current.token;
      const { token, lifetimeSeconds } = await fetchToken(signal);
      current = { token, until: now() + lifetimeSeconds * 1000 - EARLY_MS };
      return token;
    },
    forget(token) {
      if (current?.token === token) current = undefined;
    },
  };
}

/** The compact form of a token. `header` and `payload` are JSON texts. */
export function signedToken(header: string, payload: string, key: KeyObject): string {
  const content = `${base64url(header)}.${base64url(payload)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');
