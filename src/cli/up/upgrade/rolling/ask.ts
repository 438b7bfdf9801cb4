/** Requests to servers about the upgrades of machines. */
import { request } from 'node:https';
import { refuseUpgrade } from '../../../../base/http/refuse-upgrade.ts';
import type { Connection } from '../../../../client/kubeconfig/kubeconfig.ts';

interface Question {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly body?: Buffer;
}

/** Sends a request, and resolves with JSON. Rejects with a Rejected, or with an Error when there is no answer. */
export type Ask = (question: Question) => Promise<unknown>;

/** A response with another code than 200. */
export class Rejected extends Error {
  override readonly name = 'Rejected';
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

export function asking(connection: Connection): Ask {
  const { ca, cert, key, tlsServerName } = connection;
  const base = new URL(connection.server);
  const prefix = base.pathname.replace(/\/$/, '');
  return ({ method, path, body }) =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const sent = request({
        ...{ method, signal, ca: ca || undefined, cert: cert || undefined, key: key || undefined },
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port || 443,
        path: prefix + path,
        agent: false,
        headers: {
          ...(body && { 'content-type': 'application/octet-stream', 'content-length': body.length }),
          ...authorizationOf(connection),
        },
        ...(tlsServerName && { servername: tlsServerName }),
      });
      refuseUpgrade(sent);
      sent.on('error', (error) =>
        reject(signal.aborted ? new Error(`${base.host} did not answer within ${TIMEOUT_MS / 1_000} s`) : error),
      );
      sent.on('response', (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error(`${base.host} answered too much`));
          parts.push(part);
        });
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          const { statusCode = 0 } = response;
          if (statusCode !== 200) return reject(new Rejected(statusCode, messageOf(text) || `code ${statusCode}`));
          try {
            resolve(text.startsWith('{') ? JSON.parse(text) : text);
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.end(body);
    });
}

/** Asks the first of them that answers. */
export function askingAny(all: readonly Ask[]): Ask {
  return async (question) => {
    let failure: unknown = new Error('there is no server');
    for (const ask of all) {
      try {
        return await ask(question);
      } catch (error) {
        if (error instanceof Rejected) throw error;
        failure = error;
      }
    }
    throw failure;
  };
}

function authorizationOf({ token, username, password }: Connection): { readonly authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

/** Servers answer with a Status, agents with text. */
function messageOf(text: string): string {
  try {
    return String(JSON.parse(text).message ?? '');
  } catch {
    return text.trim().split('\n')[0] ?? '';
  }
}
