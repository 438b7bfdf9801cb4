/** HTTP calls of providers. */
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { refuseUpgrade } from '../../../base/refuse-upgrade.ts';
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

/** Resolves with any status. Rejects with the reason of the signal, or with a DnsError when there is no response. */
export async function httpCall({ url, method = 'GET', headers = {}, body, tls, signal }: HttpCall): Promise<HttpReply> {
  signal.throwIfAborted();
  const { origin, protocol } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  try {
    return await new Promise<HttpReply>((resolve, reject) => {
      const options = { method, headers: { ...headers, ...length }, signal, ...tls };
      const call = (protocol === 'https:' ? requestTls : requestPlain)(url, options, (response) => {
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
      call.on('error', reject);
      refuseUpgrade(call);
      call.end(body);
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new DnsError('Unavailable', `${origin} does not answer: ${(cause as Error).message}`, { cause });
  }
}
