import { Agent, request } from 'node:https';
import type { Tally } from './tally.ts';

export interface HttpAnswer {
  readonly code: number;
  readonly text: string;
}

interface SendOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The largest body that the server accepts, with room for the rest of the object. */
export const LARGE_BODY_BYTES = 2_900_000;

/** A keep-alive HTTP/1.1 client with a bearer token. Every response, and every request without one, is tallied. */
export class HttpClient {
  readonly #origin: string;
  readonly #token: string;
  readonly #tally: Tally;
  readonly #agent: Agent;

  constructor(options: { origin: string; ca: string; token: string; tally: Tally }) {
    this.#origin = options.origin;
    this.#token = options.token;
    this.#tally = options.tally;
    this.#agent = new Agent({ ca: options.ca, keepAlive: true, maxSockets: 8 });
  }

  /** Resolves with code 0 when the connection broke before a response came. */
  send(method: string, path: string, options: SendOptions = {}): Promise<HttpAnswer> {
    const { body, type = 'application/json', headers = {} } = options;
    const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const framing = bytes === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(bytes) };
    const sent = { authorization: `Bearer ${this.#token}`, ...framing, ...headers };
    return new Promise((resolve) => {
      const finish = (answer: HttpAnswer) => {
        this.#tally.count({ method, path, ...answer });
        resolve(answer);
      };
      const broken = (error: Error) => finish({ code: 0, text: error.message });
      const call = request(this.#origin + path, { method, agent: this.#agent, headers: sent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', broken);
        response.on('end', () => finish({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      });
      call.on('error', broken);
      call.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
