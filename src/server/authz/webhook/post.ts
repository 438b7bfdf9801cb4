import { Agent, request } from 'node:https';
import type { PostReview, ReviewStatus } from './webhook.ts';

/** Where reviews go, and how this server proves who it is. */
export interface ReviewEndpoint {
  /** Must be https. */
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

const LARGEST_ANSWER = 1024 * 1024;

/** Posts over connections that are kept. */
export function reviewPoster(endpoint: ReviewEndpoint): PostReview {
  const { server, ca, cert, key, tlsServerName, insecureSkipTlsVerify } = endpoint;
  if (new URL(server).protocol !== 'https:') throw new Error(`${server} is not an https address`);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 32,
    ...(ca ? { ca } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(tlsServerName ? { servername: tlsServerName } : {}),
    rejectUnauthorized: !insecureSkipTlsVerify,
  });
  const authorization = authorizationOf(endpoint);
  return (review, signal) => {
    const body = JSON.stringify(review);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      ...(authorization ? { authorization } : {}),
    };
    return new Promise((resolve, reject) => {
      const call = request(server, { method: 'POST', agent, headers, signal }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > LARGEST_ANSWER) call.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          try {
            resolve(statusOf(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
          } catch (error) {
            reject(error);
          }
        });
      });
      call.on('error', (error) => reject(signal.aborted ? signal.reason : error));
      call.end(body);
    });
  };
}

function authorizationOf({ token, username, password }: ReviewEndpoint): string | undefined {
  if (token) return `Bearer ${token}`;
  if (username) return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  return undefined;
}

function statusOf(code: number, text: string): ReviewStatus {
  if (code < 200 || code > 299) throw new Error(`webhook answered ${code}`);
  const { status } = JSON.parse(text) as { status?: ReviewStatus };
  if (typeof status !== 'object' || status === null) throw new Error('the answer has no status');
  return status;
}
