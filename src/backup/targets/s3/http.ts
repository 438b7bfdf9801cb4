/** One HTTP request to an S3 server, without retries. */
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import type { Clock } from '../../../base/time/clock.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Network {
  readonly clock: Clock;
  /** Authorities that certificates may come from, beside those of the system. */
  readonly ca?: readonly string[] | undefined;
  readonly lookup?: LookupFunction | undefined;
}

/** A connection on which nothing moves for that long is given up. */
const STALL_MS = 60_000;
/** Progress of a body is noticed between pieces of that size. */
const PIECE_BYTES = 64 * 1024;

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Its chunks; it fails when the server sends less than it announced, or stalls. It must be read or destroyed. */
  readonly body: AsyncIterable<Buffer>;
  destroy(): void;
}

/** Resolves when the head of the response is there. */
export function sendRequest(
  { method, url, headers, body, signal }: HttpRequest,
  network: Network,
): Promise<HttpResponse> {
  const { clock, ca, lookup } = network;
  return new Promise((resolve, reject) => {
    const length = (body ?? []).reduce((sum, chunk) => sum + chunk.length, 0);
    const framing = body ? { 'content-length': String(length) } : undefined;
    const options = { method, headers: { ...headers, ...framing }, signal, lookup, ca: ca && [...ca] };
    const call = (url.startsWith('https:') ? requestTls : requestPlain)(url, options);
    const watch = new StallWatch(clock, () => call.destroy(new Error(`nothing was received for ${STALL_MS / 1000} s`)));
    call.on('error', reject);
    call.on('close', () => watch.end());
    refuseUpgrade(call);
    call.on('response', (response) => {
      watch.moved();
      // An error of the request after its response belongs to the body.
      call.on('error', (error) => response.destroy(error));
      resolve({
        ...{ status: response.statusCode ?? 0, headers: response.headers },
        body: watched(response, watch),
        destroy: () => response.destroy(),
      });
    });
    const pieces = piecesOf(body ?? []);
    const write = () => {
      watch.moved();
      for (;;) {
        const { done, value } = pieces.next();
        if (done) return call.end();
        if (!call.write(value)) return call.once('drain', write);
      }
    };
    write();
  });
}

async function* watched(response: IncomingMessage, watch: StallWatch): AsyncGenerator<Buffer> {
  for await (const chunk of response) {
    yield chunk;
    // Time in which the consumer was busy is no stall.
    watch.moved();
  }
}

function* piecesOf(body: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const chunk of body) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

class StallWatch {
  #timer: { cancel(): void } | undefined;
  #isOver = false;

  constructor(
    private readonly clock: Clock,
    private readonly onStall: () => void,
  ) {
    this.moved();
  }

  moved(): void {
    this.#timer?.cancel();
    if (!this.#isOver) this.#timer = this.clock.timer(STALL_MS, this.onStall);
  }

  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }
}
