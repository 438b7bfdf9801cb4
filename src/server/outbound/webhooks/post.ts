import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import { exceeded } from '../../../base/json/size.ts';
import { tlsAgent } from '../services/dial-service.ts';

/**
 * Calls webhooks: posts JSON over kept-alive connections, with the credentials of a kubeconfig. The content of requests
 * and responses is up to the callers (`../audit/webhook.ts`, `../authz/webhook/`).
 */
// Named imports: a namespace import would load the modules at once.

export interface Endpoint {
  readonly server: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** Opens the connection below TLS, if it does not lead to the host of the URL. */
  readonly connect?: () => Promise<Duplex>;
  /** Resolves the host of the URL, if not every address is allowed. */
  readonly lookup?: LookupFunction;
  readonly maxResponseBytes?: number;
}

/** Resolves with the body of a successful response; else rejects with its code, or why there was none. */
export type Post = (json: string, signal: AbortSignal) => Promise<string>;

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 32;

export function createPost(endpoint: Endpoint): Post {
  const { server, maxResponseBytes = MAX_RESPONSE_BYTES } = endpoint;
  const { send, agent } = transportTo(endpoint);
  const authorization = authorizationOf(endpoint);
  const post = (json: string, signal: AbortSignal, isRetry: boolean): Promise<string> => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
      accept: 'application/json',
      ...(authorization ? { authorization } : {}),
    };
    return new Promise((resolve, reject) => {
      const call = send(server, { method: 'POST', agent, headers, signal }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxResponseBytes) call.destroy(new Error('the response is too large'));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: code = 0 } = response;
          if (code < 200 || code > 299) reject(new Error(`webhook answered ${code}`));
          else resolve(Buffer.concat(chunks).toString());
        });
      });
      call.on('error', (error: NodeJS.ErrnoException) => {
        if (signal.aborted) reject(signal.reason);
        // The peer may close a kept connection at the very moment it is reused.
        else if (call.reusedSocket && !isRetry && error.code === 'ECONNRESET') resolve(post(json, signal, true));
        else reject(error);
      });
      refuseUpgrade(call);
      call.end(json);
    });
  };
  return (json, signal) => post(json, signal, false);
}

function transportTo(endpoint: Endpoint) {
  const { server, ca, cert, key, tlsServerName, insecureSkipTlsVerify, connect, lookup } = endpoint;
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, lookup };
  const { protocol } = new URL(server);
  if (protocol === 'http:') return { send: requestHttp, agent: new HttpAgent(options) };
  if (protocol !== 'https:') throw new Error(`${server} is not a URL of a webhook: it must be http or https`);
  const tls = {
    ...(ca ? { ca } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(tlsServerName ? { servername: tlsServerName } : {}),
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  if (!connect) return { send: requestHttps, agent: new HttpsAgent({ ...options, ...tls }) };
  return { send: requestHttps, agent: tlsAgent(connect, tls, options) };
}

function authorizationOf({ token, username, password }: Endpoint): string | undefined {
  if (token) return `Bearer ${token}`;
  if (username) return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  return undefined;
}

/** Limit for nesting: the deepest object, and the review around it. */
const MAX_DEPTH = 1_050;

/**
 * Parses the response of a webhook. Throws an Error: a few megabytes of opening brackets would block the event loop for
 * a third of a second before JSON.parse rejects them, and an object with 100,000 fields for half of that.
 */
export function parseAnswer(text: string, maxParts = Number.POSITIVE_INFINITY): unknown {
  const limit = exceeded(text, { maxDepth: MAX_DEPTH, maxParts });
  if (limit === 'depth') throw new Error('json: exceeded max depth');
  if (limit === 'parts') throw new Error(`json: more than ${maxParts} fields and list items`);
  return JSON.parse(text);
}
