/** A transport over any function that sends HTTP requests: adds timeouts, and interprets responses and events. */

import { ApiError } from '../../../api/errors.ts';
import { connectionProblem } from '../../../base/sockets/connection-problem.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Answer, Request, Transport, WatchStream } from '../transport.ts';
import {
  answerOf,
  failureOf as anyFailure,
  type Body,
  bodyOf,
  type HttpResponse,
  type JsonLimits,
  parseEvent,
  parseObject,
} from './http-answer.ts';
import type { Sent } from './http-request.ts';
import { LineSplitter } from './line-splitter.ts';

export interface HttpTransportOptions {
  /** Resolves with the head of the response. The signal aborts the body, too; NO_ANSWER is a timeout. */
  readonly send: (request: Sent & { readonly signal: AbortSignal }) => Promise<HttpResponse>;
  /** The name of the server in messages. */
  readonly peer: string;
  readonly clock: Clock;
  /** Timeout of a call, and of the start of a watch. */
  readonly timeoutMs: number;
  /** Timeout of a get or a list. Default: `timeoutMs`. */
  readonly readTimeoutMs?: number;
  /** Limits for bodies and events; exceeding them is an error. Default: none. */
  readonly limits?: JsonLimits;
  /** Converts an unsuccessful response to an error. */
  readonly failureOf?: (body: Body) => ApiError;
}

export interface HttpTransport extends Transport {
  /** Reads JSON that is not an API object, such as discovery or a table. */
  read(path: string, accept?: string): Promise<Record<string, any>>;
  /** Sends JSON to a path that is not one of objects (`create`), or deletes what is there. Resolves with the answer. */
  send(verb: 'create' | 'delete', path: string, body?: object): Promise<Record<string, any>>;
  /** Resolves when the server says that it is ready, within the timeout; `asked`: apart from its store. */
  ready(timeoutMs: number, asked?: 'without-store'): Promise<void>;
}

export const NO_ANSWER = new Error('the server did not answer in time');

const READINESS = { verb: 'get', apiVersion: '', plural: '', path: '/readyz', accept: 'text/plain' } as const;

/** Probes of readiness are answered at once, or a server seems dead. */
export const isReadiness = (path: string | undefined) => path?.startsWith(READINESS.path) === true;

const WITHOUT_STORE = { path: `${READINESS.path}?exclude=etcd` } as const;

/** Time beyond the requested timeout after which the connection of a watch counts as dead. */
const WATCH_GRACE_MS = 30_000;

export function httpTransport(options: HttpTransportOptions): HttpTransport {
  const { send, peer, clock, timeoutMs, readTimeoutMs = timeoutMs, limits, failureOf = anyFailure } = options;

  /** Runs `work` until the signal is aborted or the timeout has passed, and turns aborts into errors with a reason. */
  async function withTimeout<T>(
    request: Sent,
    work: (request: Sent & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    request.signal?.throwIfAborted();
    const ended = new AbortController();
    const end = () => ended.abort();
    const asked = request.verb === 'watch' ? 0 : (request.options?.timeoutSeconds ?? 0) * 1000;
    const isRead = request.verb === 'get' || request.verb === 'list';
    const limitMs = request.timeoutMs ?? (isRead ? readTimeoutMs : timeoutMs) + asked;
    const timer = clock.timer(limitMs, () => ended.abort(NO_ANSWER));
    request.signal?.addEventListener('abort', end, { once: true });
    try {
      return await work({ ...request, signal: ended.signal });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (ended.signal.aborted)
        throw new ApiError('Timeout', `${peer} did not answer within ${limitMs / 1000} s`, { cause: error });
      throw unreachable(error);
    } finally {
      timer.cancel();
      request.signal?.removeEventListener('abort', end);
    }
  }

  function unreachable(error: unknown): unknown {
    if (error instanceof ApiError) return error;
    return new ApiError('ServiceUnavailable', `cannot reach ${peer}: ${connectionProblem(error)}`, { cause: error });
  }

  async function answer(request: Sent & { readonly signal: AbortSignal }): Promise<Answer> {
    const body = await bodyOf(await send(request), limits);
    if (body.code < 200 || body.code > 299) throw failureOf(body);
    return answerOf(request, body);
  }

  async function document(request: Sent & { readonly signal: AbortSignal }): Promise<Record<string, any>> {
    const body = await bodyOf(await send(request), limits);
    const value = body.code === 200 ? parseObject(body.text) : undefined;
    if (!value) throw failureOf(body);
    return value;
  }

  function stream(response: HttpResponse, request: Request): WatchStream {
    let closed = false;
    const { signal, options: asked } = request;
    const close = () => {
      closed = true;
      response.destroy();
    };
    const timer = asked?.timeoutSeconds
      ? clock.timer(asked.timeoutSeconds * 1000 + WATCH_GRACE_MS, () => response.destroy())
      : undefined;
    const release = () => {
      timer?.cancel();
      signal?.removeEventListener('abort', close);
    };
    response.once('close', release);
    // The stream keeps its error until it is read.
    response.on('error', () => {});
    signal?.addEventListener('abort', close, { once: true });
    if (signal?.aborted) close();
    async function* batches() {
      const lines = new LineSplitter(limits?.maxBytes);
      const part = limits?.unparsed?.open();
      try {
        for await (const chunk of response) {
          const batch = lines.push(chunk as Buffer).map((line) => parseEvent(line, limits));
          part?.hold(lines.unfinishedBytes);
          if (batch.length > 0) yield batch;
        }
      } catch (error) {
        if (!closed) throw unreachable(error);
      } finally {
        part?.release();
        close();
      }
    }
    return { [Symbol.asyncIterator]: batches, close };
  }

  return {
    call: (request) => withTimeout(request, answer),

    read: (path, accept = 'application/json') =>
      withTimeout({ verb: 'get', apiVersion: '', plural: '', path, accept }, document),

    send: (verb, path, body) => withTimeout({ verb, apiVersion: '', plural: '', path, body }, document),

    ready: (limitMs, asked) =>
      withTimeout({ ...READINESS, ...(asked && WITHOUT_STORE), timeoutMs: limitMs }, async (limited) => {
        const body = await bodyOf(await send(limited), limits);
        if (body.code !== 200) throw failureOf(body);
      }),

    watch: (request) =>
      withTimeout(request, async (limited) => {
        const response = await send(limited);
        if (response.statusCode !== 200) throw failureOf(await bodyOf(response, limits));
        return stream(response, request);
      }),
  };
}
