/**
 * Programs elsewhere that this server tells or asks something: where they are, how this server proves who it is, and one
 * post over a connection that is kept. What is sent, and what an answer means, is the caller's.
 */
import * as http from 'node:http';
import * as https from 'node:https';

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
}

/** The text of a successful answer. Rejects with anything else: its code, or why there was none. */
export type Post = (json: string, signal: AbortSignal) => Promise<string>;

const LARGEST_ANSWER = 1024 * 1024;
const CONNECTIONS = 32;

export function poster(endpoint: Endpoint): Post {
  const { server } = endpoint;
  const { send, agent } = wayTo(endpoint);
  const authorization = authorizationOf(endpoint);
  return (json, signal) => {
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
          if (size > LARGEST_ANSWER) call.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: code = 0 } = response;
          if (code < 200 || code > 299) reject(new Error(`webhook answered ${code}`));
          else resolve(Buffer.concat(chunks).toString());
        });
      });
      call.on('error', (error) => reject(signal.aborted ? signal.reason : error));
      call.end(json);
    });
  };
}

function wayTo({ server, ca, cert, key, tlsServerName, insecureSkipTlsVerify }: Endpoint) {
  const kept = { keepAlive: true, maxSockets: CONNECTIONS };
  const { protocol } = new URL(server);
  if (protocol === 'http:') return { send: http.request, agent: new http.Agent(kept) };
  if (protocol !== 'https:') throw new Error(`${server} is not an address of a webhook`);
  const agent = new https.Agent({
    ...kept,
    ...(ca ? { ca } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(tlsServerName ? { servername: tlsServerName } : {}),
    rejectUnauthorized: !insecureSkipTlsVerify,
  });
  return { send: https.request, agent };
}

function authorizationOf({ token, username, password }: Endpoint): string | undefined {
  if (token) return `Bearer ${token}`;
  if (username) return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  return undefined;
}
