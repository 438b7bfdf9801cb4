/** Calls a server over HTTP/1.1 with keep-alive, over TLS unless the URL is http. */
import * as http from 'node:http';
import * as https from 'node:https';
import { ApiError, type Status } from '../../base/errors.ts';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import type { KubeObject, Verb } from '../../kinds/kind.ts';
import type { Connection } from '../kubeconfig/kubeconfig.ts';
import { errorOfCode, errorOfStatus } from '../status-error.ts';
import { LineSplitter } from './line-splitter.ts';
import { pathOf } from './request-path.ts';
import type { Answer, ListMeta, PatchType, RawEvent, Request, Transport, WatchStream } from './transport.ts';

export interface HttpsTransportOptions extends Connection {
  readonly userAgent?: string;
  /** Timeout of a call in milliseconds, and of the start of a watch. Default: one minute. */
  readonly timeout?: number;
  readonly clock?: Clock;
}

export interface HttpsTransport extends Transport {
  /** Reads JSON that is no object of the API, such as discovery or a table. */
  read(path: string, accept?: string): Promise<Record<string, any>>;
  /** Shows another client certificate from the next connection on. */
  renew(identity: { readonly cert: string; readonly key: string }): void;
  /** Closes all connections, including those of running watches. */
  close(): void;
}

const METHODS: Record<Verb, string> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

const PATCH_MEDIA: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** TCP keep-alive: how long a watch is silent before the kernel probes the peer. */
const KEEP_ALIVE_MS = 30_000;

/** How much longer than requested a watch may last before its connection counts as dead. */
const WATCH_GRACE_MS = 30_000;

/** For calls at the same time: each costs a handshake and memory at both ends. More calls wait. */
const MAX_CONNECTIONS = 16;

/** A request, or the path of a document that is read. */
type Sent = Request & { readonly path?: string; readonly accept?: string };

interface Connections {
  readonly calls: http.Agent;
  /** Without a limit. */
  readonly urgent: http.Agent;
}

export function httpsTransport(options: HttpsTransportOptions): HttpsTransport {
  const { clock = systemClock, timeout = 60_000 } = options;
  const base = new URL(options.server);
  const plain = base.protocol === 'http:';
  const connectionsWith = ({ cert, key }: Pick<Connection, 'cert' | 'key'>): Connections => {
    const tls = {
      ...(options.ca ? { ca: options.ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      ...(options.tlsServerName ? { servername: options.tlsServerName } : {}),
      ...(options.insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
    };
    const agentOf = (limits: http.AgentOptions) =>
      plain ? new http.Agent({ keepAlive: true, ...limits }) : new https.Agent({ keepAlive: true, ...limits, ...tls });
    return { calls: agentOf({ maxSockets: MAX_CONNECTIONS }), urgent: agentOf({}) };
  };
  let connections = connectionsWith(options);
  /** The ones before, with the calls and watches that began with them. */
  let former: Connections | undefined;
  const prefix = base.pathname.replace(/\/$/, '');
  const authorization = authorizationOf(options);

  /** Resolves with the head of the response. */
  function send(request: Sent): Promise<http.IncomingMessage> {
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const settings: https.RequestOptions = {
      method: METHODS[request.verb],
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (plain ? 80 : 443),
      path: prefix + (request.path ?? pathOf(request)),
      agent: isUrgent(request) ? connections.urgent : connections.calls,
      headers: {
        accept: request.accept ?? (request.metadataOnly ? METADATA_ONLY : 'application/json'),
        'user-agent': options.userAgent ?? 'quarterdeck',
        ...(authorization ? { authorization } : {}),
        ...(body
          ? {
              'content-type': request.patchType ? PATCH_MEDIA[request.patchType] : 'application/json',
              'content-length': body.length,
            }
          : {}),
      },
    };
    const attempt = (retry: boolean) =>
      new Promise<http.IncomingMessage>((resolve, reject) => {
        const outgoing = (plain ? http : https).request(settings);
        const abort = () => outgoing.destroy();
        let answered = false;
        request.signal?.addEventListener('abort', abort, { once: true });
        outgoing.on('close', () => request.signal?.removeEventListener('abort', abort));
        outgoing.on('response', (response) => {
          answered = true;
          resolve(response);
        });
        outgoing.on('error', (error) => {
          // The server may close an idle connection while a request is on its way; reads are sent again.
          const stale = retry && !answered && outgoing.reusedSocket && !request.signal?.aborted;
          if (stale && settings.method === 'GET') resolve(attempt(false));
          else reject(error);
        });
        if (request.verb === 'watch') outgoing.setSocketKeepAlive(true, KEEP_ALIVE_MS);
        outgoing.end(body);
      });
    return attempt(true);
  }

  /** Runs `work` until the signal is aborted or the timeout has passed, and turns aborts into errors with a reason. */
  async function withTimeout<T>(request: Sent, work: (request: Sent) => Promise<T>): Promise<T> {
    request.signal?.throwIfAborted();
    const ended = new AbortController();
    const end = () => ended.abort();
    const asked = request.verb === 'watch' ? 0 : (request.options?.timeoutSeconds ?? 0) * 1000;
    const timer = clock.timer(timeout + asked, end);
    request.signal?.addEventListener('abort', end, { once: true });
    try {
      return await work({ ...request, signal: ended.signal });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (ended.signal.aborted) throw new ApiError('Timeout', `${base.host} did not answer in time`, { cause: error });
      throw unreachable(error);
    } finally {
      timer.cancel();
      request.signal?.removeEventListener('abort', end);
    }
  }

  function unreachable(error: unknown): unknown {
    if (error instanceof ApiError) return error;
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return new ApiError('ServiceUnavailable', `cannot reach ${base.host}: ${why}`, { cause: error });
  }

  function stream(response: http.IncomingMessage, request: Request): WatchStream {
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
    // The stream keeps errors until it is read.
    response.on('error', () => {});
    signal?.addEventListener('abort', close, { once: true });
    if (signal?.aborted) close();
    async function* batches() {
      const lines = new LineSplitter();
      try {
        for await (const chunk of response) {
          const batch = lines.push(chunk as Buffer).map((line) => JSON.parse(line) as RawEvent);
          if (batch.length > 0) yield batch;
        }
      } catch (error) {
        if (!closed) throw unreachable(error);
      } finally {
        close();
      }
    }
    return { [Symbol.asyncIterator]: batches, close };
  }

  return {
    call: (request) => withTimeout(request, async (limited) => answerOf(request, await bodyOf(await send(limited)))),

    read: (path, accept = 'application/json') =>
      withTimeout({ verb: 'get', apiVersion: '', plural: '', path, accept }, async (limited) => {
        const body = await bodyOf(await send(limited));
        const value = body.code === 200 ? parseObject(body.text) : undefined;
        if (!value) throw failureOf(body);
        return value;
      }),

    watch: (request) =>
      withTimeout(request, async (limited) => {
        const response = await send(limited);
        if (response.statusCode !== 200) throw failureOf(await bodyOf(response));
        return stream(response, request);
      }),

    renew(identity) {
      if (former) closeAll(former);
      former = connections;
      connections = connectionsWith(identity);
    },

    close() {
      if (former) closeAll(former);
      closeAll(connections);
    },
  };
}

/** Watches stay open, and a lease that waits behind other calls would be renewed too late. */
const isUrgent = ({ verb, plural }: Request) => verb === 'watch' || plural === 'leases';

function closeAll({ calls, urgent }: Connections): void {
  calls.destroy();
  urgent.destroy();
}

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

function authorizationOf({ token, username, password }: Connection): string | undefined {
  if (token) return `Bearer ${token}`;
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
}

interface Body {
  readonly code: number;
  readonly text: string;
}

async function bodyOf(response: http.IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
}

function answerOf(request: Request, body: Body): Answer {
  if (body.code < 200 || body.code > 299) throw failureOf(body);
  const value = parseObject(body.text);
  if (!value) throw errorOfCode(body.code, body.text);
  if (value.kind === 'Status') return { type: 'status', status: value as unknown as Status };
  if (request.verb !== 'list') return { type: 'object', object: value as unknown as KubeObject };
  const { metadata, items } = value as unknown as { metadata: ListMeta; items: KubeObject[] | null };
  // Some servers omit fields in items that the list has.
  const common = { apiVersion: request.apiVersion, kind: String(value.kind).replace(/List$/, '') };
  return { type: 'list', metadata, items: (items ?? []).map((item) => (item.kind ? item : { ...common, ...item })) };
}

function failureOf({ code, text }: Body): ApiError {
  const value = parseObject(text);
  return value?.kind === 'Status' ? errorOfStatus({ code, ...value }) : errorOfCode(code, text);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
