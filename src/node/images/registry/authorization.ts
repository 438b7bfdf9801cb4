/** Obtains the authorization that a registry demands: none, a password, or a token from another server. */
import { RuntimeError } from '../../runtime/errors.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import { isObject, parseDocument } from '../content/documents.ts';
import { type HttpRequest, readBody, send } from './http.ts';

/** A `WWW-Authenticate` header. */
export interface Challenge {
  /** Scheme in lower case. */
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface TokenRequest extends Pick<HttpRequest, 'isInsecure' | 'dialing' | 'signal'> {
  readonly challenge: Challenge;
  readonly repository: string;
  readonly credentials: RegistryCredentials | undefined;
  /** True when the registry was asked over TLS, and only so: then its tokens are requested over TLS, too. */
  readonly hasTls: boolean;
}

const MAX_TOKEN_BYTES = 256 * 1024;
const CLIENT_ID = 'quarterdeck';
const OK = 200;

export function parseChallenge(header: string): Challenge {
  const [, scheme = '', rest = ''] = /^\s*(\S+)\s*(.*)$/s.exec(header) ?? [];
  // A name begins where no name goes on: otherwise a long text would take quadratic time.
  const parameters = [...rest.matchAll(/(?<![\w-])([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(
    ([, key, quoted, plain]) => [key!.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain!] as const,
  );
  return { scheme: scheme.toLowerCase(), parameters: Object.fromEntries(parameters) };
}

/** Returns the value of the `Authorization` header; undefined when there are no suitable credentials. */
export async function answer(request: TokenRequest): Promise<string | undefined> {
  const { challenge, credentials } = request;
  if (credentials?.registryToken) return `Bearer ${credentials.registryToken}`;
  if (challenge.scheme === 'basic') return credentials && basic(credentials);
  if (challenge.scheme !== 'bearer' || challenge.parameters.realm === undefined) return undefined;
  return `Bearer ${await fetchToken(request)}`;
}

function basic({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

async function fetchToken(request: TokenRequest): Promise<string> {
  const { realm = '' } = request.challenge.parameters;
  if (!URL.canParse(realm))
    throw new RuntimeError('Unknown', `the registry names an invalid realm ${JSON.stringify(realm)}`);
  if (request.hasTls && new URL(realm).protocol !== 'https:') {
    throw new RuntimeError('Unknown', `the registry wants its credentials sent to ${realm} without TLS`);
  }
  const { response } = await send(request.credentials?.identityToken ? refresh(request) : ask(request));
  const body = await readBody(response, { maxBytes: MAX_TOKEN_BYTES, signal: request.signal });
  if (response.statusCode !== OK) {
    throw new RuntimeError(
      'Unknown',
      `failed to authorize: failed to fetch ${request.credentials ? 'oauth' : 'anonymous'} token: unexpected status from ` +
        `GET request to ${realm}: ${response.statusCode} ${response.statusMessage}`,
    );
  }
  const document = parseDocument(`the token of ${realm}`, body);
  const token = isObject(document) ? (document.token ?? document.access_token) : undefined;
  if (typeof token !== 'string' || token === '') throw new RuntimeError('Unknown', `${realm} gave no token`);
  return token;
}

function ask({ challenge, repository, credentials, isInsecure, dialing, signal }: TokenRequest): HttpRequest {
  const url = new URL(challenge.parameters.realm!);
  const { service, scope } = scopeOf(challenge, repository);
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope);
  const headers: Record<string, string> = credentials ? { Authorization: basic(credentials) } : {};
  return { url: url.href, headers, isInsecure, dialing, signal };
}

/** A refresh token stands for the password. */
function refresh({ challenge, repository, credentials, isInsecure, dialing, signal }: TokenRequest): HttpRequest {
  const { service = '', scope } = scopeOf(challenge, repository);
  const form = { grant_type: 'refresh_token', service, scope, client_id: CLIENT_ID };
  const body = new URLSearchParams({ ...form, refresh_token: credentials!.identityToken! }).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { url: challenge.parameters.realm!, method: 'POST', headers, body, isInsecure, dialing, signal };
}

function scopeOf({ parameters }: Challenge, repository: string) {
  return { service: parameters.service, scope: parameters.scope ?? `repository:${repository}:pull` };
}
