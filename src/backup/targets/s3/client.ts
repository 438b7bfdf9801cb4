/** Signed requests to a bucket, repeated while the server is overloaded or out of reach. */
import { createHash } from 'node:crypto';
import type { Random } from '../../../base/random.ts';
import { connectionProblem } from '../../../base/sockets/connection-problem.ts';
import { backoffDelay } from '../../../base/time/backoff.ts';
import { sleep } from '../../../base/time/clock.ts';
import { signedHeaders } from '../../../protocols/aws/signature.ts';
import { TargetError } from '../../target.ts';
import { errorIn, explained, type Failure, isTransient } from './errors.ts';
import { type HttpResponse, type Network, sendRequest } from './http.ts';
import type { S3Settings } from './settings.ts';

export interface S3Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Name of a file below the prefix; undefined for the bucket. */
  readonly name?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[] | undefined;
  /** Hash of the body, in hex, when it is known. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Codes of errors, and statuses as text, that the caller handles: the response is returned. */
  readonly accepts?: readonly string[];
}

export interface S3Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** Text of the body; of an error, its code. */
  readonly text: string;
  readonly code: string | undefined;
}

const MAX_ATTEMPTS = 6;
const RETRY = { base: 500, max: 20_000 };
/** A page of 1,000 entries has less than a megabyte. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

export class S3Client {
  constructor(
    readonly settings: S3Settings,
    private readonly network: Network,
    private readonly random: Random,
  ) {}

  /** Sends a request until it is answered, and returns the whole answer. Throws a TargetError for errors that the caller does not accept. */
  async call(call: S3Call): Promise<S3Answer> {
    return this.#repeated<S3Answer>(call, async () => {
      const response = await this.#attempt(call);
      const text = await textOf(response);
      const isFine = response.status >= 200 && response.status < 300;
      // A completed upload can have an error in a body with status 200.
      const { code, message } = errorIn(text);
      if (isFine && code === undefined) return { ...head(response), text, code };
      const failure = failureOf(response, code, message);
      if (accepts(call, failure)) return { ...head(response), text, code };
      return failure;
    });
  }

  /** Sends a request, and returns its answer when the head is there. The body must be read or destroyed. */
  async stream(call: S3Call): Promise<HttpResponse | S3Answer> {
    return this.#repeated<HttpResponse | S3Answer>(call, async () => {
      const response = await this.#attempt(call);
      if (response.status >= 200 && response.status < 300) return response;
      const text = await textOf(response);
      const { code, message } = errorIn(text);
      const failure = failureOf(response, code, message);
      return accepts(call, failure) ? { ...head(response), text, code } : failure;
    });
  }

  /** Waits before an attempt that follows `failures` failed ones. */
  async pause(failures: number, signal?: AbortSignal): Promise<void> {
    await sleep(this.network.clock, backoffDelay(failures, RETRY, this.random), signal);
  }

  /** What a call is about, for messages. */
  describe({ method, name }: Pick<S3Call, 'method' | 'name'>): string {
    const { bucket, prefix } = this.settings;
    return `${method} s3://${bucket}/${prefix}${name ?? ''}`;
  }

  async #repeated<Result>(call: S3Call, attempt: () => Promise<Result | Failed>): Promise<Result> {
    for (let failures = 1; ; failures++) {
      const outcome = await this.#outcome(call, attempt);
      if (!(outcome instanceof Failed)) return outcome;
      if (!outcome.isTransient || failures === MAX_ATTEMPTS) throw outcome.error(this, call);
      await this.pause(failures, call.signal);
    }
  }

  async #outcome<Result>(call: S3Call, attempt: () => Promise<Result | Failed>): Promise<Result | Failed> {
    try {
      return await attempt();
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof TargetError) throw error;
      return new Unreachable(error);
    }
  }

  async #attempt({ method, name, query, headers = {}, body, sha256, signal }: S3Call): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const { region, keys } = this.settings;
    const url = this.#url(name, query);
    const now = this.network.clock.now();
    const own = { ...headers, 'x-amz-content-sha256': sha256 ?? hashOf(body ?? []) };
    const signed = signedHeaders({ method, url, headers: own, body: '' }, await keys(), { region, service: 's3', now });
    return sendRequest({ method, url, headers: signed, body, signal }, this.network);
  }

  #url(name: string | undefined, query: Readonly<Record<string, string>> = {}): string {
    const { endpoint, bucket, prefix, style } = this.settings;
    const url = new URL(endpoint);
    if (style === 'virtual') url.host = `${bucket}.${url.host}`;
    const parts = [style === 'path' ? bucket : '', name === undefined ? '' : `${prefix}${name}`].filter(Boolean);
    url.pathname = [url.pathname.replace(/\/$/, ''), ...parts].join('/') || '/';
    url.search = new URLSearchParams(query).toString();
    return url.href;
  }

  get now(): number {
    return this.network.clock.now();
  }
}

/** A failed attempt. */
abstract class Failed {
  abstract readonly isTransient: boolean;
  abstract error(client: S3Client, call: S3Call): TargetError;
}

class Rejected extends Failed {
  constructor(readonly failure: Failure) {
    super();
  }

  get isTransient(): boolean {
    return isTransient(this.failure);
  }

  error(client: S3Client, call: S3Call): TargetError {
    return explained(client.describe(call), this.failure, { ...client.settings, now: client.now });
  }
}

/** There was no answer, or not a whole one. */
class Unreachable extends Failed {
  constructor(readonly cause: unknown) {
    super();
  }

  /** Certificates do not become right by another attempt. */
  get isTransient(): boolean {
    const { code } = this.cause as NodeJS.ErrnoException;
    return !/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^HPE_|^EPROTO/.test(code ?? '');
  }

  error(client: S3Client, call: S3Call): TargetError {
    const text = `${client.describe(call)}: no answer from ${client.settings.endpoint}: ${connectionProblem(this.cause)}`;
    return new TargetError('Unavailable', text, { cause: this.cause });
  }
}

function head({ status, headers }: HttpResponse): Pick<S3Answer, 'status' | 'headers'> {
  return { status, headers };
}

function failureOf({ status, headers }: HttpResponse, code: string | undefined, message: string | undefined): Rejected {
  const region = headers['x-amz-bucket-region'];
  const bucketRegion = typeof region === 'string' ? region : undefined;
  return new Rejected({ status, code, message, date: headers.date, bucketRegion });
}

function accepts({ accepts: accepted = [] }: S3Call, { failure: { code, status } }: Rejected): boolean {
  return accepted.includes(code ?? '') || accepted.includes(String(status));
}

async function textOf(response: HttpResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES)
      throw new TargetError('Invalid', `the S3 server answers with more than ${MAX_TEXT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function hashOf(body: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}
