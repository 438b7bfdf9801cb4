/** HTTP calls of providers. */
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import { exceeded } from '../../../base/json/size.ts';
import { isTree, type Tree } from '../../../base/json/tree.ts';
import { DnsError } from '../provider.ts';

export interface HttpCall {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  readonly signal: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Limits for JSON: more than a page of records has. */
const LIMITS = { maxDepth: 100, maxParts: 500_000 };

/** The JSON object that a body is; undefined when it is something else. */
export function jsonObject(body: string): Tree | undefined {
  if (exceeded(body, LIMITS)) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isTree(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves with any status. Rejects with the reason of the signal, or with a DnsError when there is no response. */
export async function httpCall({ url, method = 'GET', headers = {}, body, tls, signal }: HttpCall): Promise<HttpReply> {
  signal.throwIfAborted();
  const { origin, protocol } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const attempt = (isFirst: boolean) =>
    new Promise<HttpReply>((resolve, reject) => {
      const options = { method, headers: { ...headers, ...length }, signal, ...tls };
      let isAnswered = false;
      const call = (protocol === 'https:' ? requestTls : requestPlain)(url, options, (response) => {
        isAnswered = true;
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES) response.destroy(new Error(`the response has more than ${MAX_BODY_BYTES} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      });
      call.on('error', (error) => {
        // The server may close an idle connection while a call is on its way. Calls can be repeated: see DnsZone.
        if (isFirst && call.reusedSocket && !isAnswered && !signal.aborted) resolve(attempt(false));
        else reject(error);
      });
      refuseUpgrade(call);
      call.end(body);
    });
  try {
    return await attempt(true);
  } catch (cause) {
    signal.throwIfAborted();
    throw new DnsError('Unavailable', `${origin} does not answer: ${(cause as Error).message}`, { cause });
  }
}
