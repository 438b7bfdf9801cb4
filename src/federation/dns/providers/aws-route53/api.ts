/** Signed requests to Route 53. */

import { type AwsKeys, signedHeaders } from '../../../../protocols/aws/signature.ts';
import { all, parseXml, textAt, type XmlElement } from '../../../../protocols/aws/xml.ts';
import { DnsError } from '../../provider.ts';
import { httpCall, jsonObject } from '../http.ts';

export interface Route53Options {
  readonly endpoint: string;
  /** Region of the signature: Route 53 is one service for all regions of a partition. */
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly now: () => number;
}

const VERSION = '2013-04-01';

export class Route53Api {
  constructor(private readonly options: Route53Options) {}

  /** `size` is called with the size of the answer. */
  get(
    path: string,
    query: Readonly<Record<string, string>>,
    { signal, size }: { readonly signal: AbortSignal; readonly size?: (bytes: number) => void },
  ): Promise<XmlElement> {
    const search = new URLSearchParams(query).toString();
    return this.#call('GET', `${path}${search ? `?${search}` : ''}`, '', signal, size);
  }

  post(path: string, body: string, signal: AbortSignal): Promise<XmlElement> {
    return this.#call('POST', path, body, signal);
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    body: string,
    signal: AbortSignal,
    size?: (bytes: number) => void,
  ): Promise<XmlElement> {
    const { endpoint, region, credentials, now } = this.options;
    const url = `${endpoint.replace(/\/$/, '')}/${VERSION}/${path}`;
    const own: Readonly<Record<string, string>> = method === 'POST' ? { 'content-type': 'text/xml' } : {};
    const keys = await credentials.get(signal);
    const headers = signedHeaders({ method, url, headers: own, body }, keys, {
      region,
      service: 'route53',
      now: now(),
    });
    const reply = await httpCall({ url, method, headers, body: method === 'POST' ? body : undefined, signal });
    size?.(reply.body.length);
    let root: XmlElement | undefined;
    try {
      root = parseXml(reply.body);
    } catch {
      // The status tells the error.
    }
    // A proxy on the way may answer with its own page.
    if (reply.status === 200 && root?.name.endsWith('Response')) return root;
    throw failure(reply.status, root, reply.body);
  }
}

const FORBIDDEN = new Set([
  ...['AccessDenied', 'AccessDeniedException', 'InvalidClientTokenId', 'SignatureDoesNotMatch', 'ExpiredToken'],
  ...['UnrecognizedClientException', 'RequestExpired', 'MissingAuthenticationToken', 'IncompleteSignature'],
]);
/** Errors for which repeating the call helps; an invalid batch is planned again from the new state. */
const TEMPORARY = new Set(['Throttling', 'ThrottlingException', 'PriorRequestNotComplete', 'ServiceUnavailable']);

function failure(status: number, root: XmlElement | undefined, body: string): DnsError {
  const isBatch = root?.name === 'InvalidChangeBatch';
  const code = root && (isBatch ? root.name : textAt(root, 'Error', 'Code'));
  const messages = root && [
    ...all(root, 'Messages', 'Message').map(({ text }) => text),
    ...all(root, 'Error', 'Message').map(({ text }) => text),
  ];
  const text = `Route 53 answers with ${status}: ${[code, messages?.join(' ')].filter(Boolean).join(': ') || body.slice(0, 200)}`;
  if (FORBIDDEN.has(code ?? '') || status === 401 || (status === 403 && !TEMPORARY.has(code ?? ''))) {
    return new DnsError('Forbidden', text);
  }
  return new DnsError(status >= 500 || status === 429 || TEMPORARY.has(code ?? '') ? 'Unavailable' : 'Invalid', text);
}

export interface AwsCredentials {
  /** Keys that are valid now. */
  get(signal: AbortSignal): Promise<AwsKeys>;
}

const TOKEN_SECONDS = 300;
/** Keys are renewed this long before they end. */
const EARLY_MS = 300_000;
const ROLES = '/latest/meta-data/iam/security-credentials/';

const isText = (value: unknown) => typeof value === 'string';

export function machineCredentials(metadataUrl: string, now: () => number): AwsCredentials {
  let current: { readonly keys: AwsKeys; readonly until: number } | undefined;
  return {
    async get(signal) {
      if (current && now() < current.until) return current.keys;
      const read = async (path: string, method: 'GET' | 'PUT', headers: Readonly<Record<string, string>>) => {
        const { status, body } = await httpCall({ url: `${metadataUrl}${path}`, method, headers, signal });
        if (status !== 200) {
          throw new DnsError(
            'Forbidden',
            `the machine has no role: its metadata server answers ${path} with ${status}`,
          );
        }
        return body.trim();
      };
      const session = await read('/latest/api/token', 'PUT', {
        'x-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS),
      });
      const headers = { 'x-aws-ec2-metadata-token': session };
      const [role] = (await read(ROLES, 'GET', headers)).split('\n');
      const found = jsonObject(await read(`${ROLES}${role}`, 'GET', headers)) ?? {};
      const {
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        Token: sessionToken,
        Expiration: end,
      } = found;
      if (!isText(accessKeyId) || !isText(secretAccessKey) || (sessionToken !== undefined && !isText(sessionToken))) {
        throw new DnsError('Unavailable', `the metadata server has no keys for the role ${role} of the machine`);
      }
      current = {
        keys: { accessKeyId, secretAccessKey, sessionToken },
        until: Date.parse(isText(end) ? end : '') - EARLY_MS || 0,
      };
      return current.keys;
    },
  };
}
