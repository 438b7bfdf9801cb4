/** Calls a server over HTTP/1.1 with keep-alive, over TLS unless the URL is http. */
import * as http from 'node:http';
import * as https from 'node:https';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import type { Connection } from '../../kubeconfig/kubeconfig.ts';
import type { JsonLimits } from './http-answer.ts';
import { httpRequestOf, type Sent } from './http-request.ts';
import { type HttpTransport, httpTransport, isReadiness, NO_ANSWER } from './http-transport.ts';

export interface HttpsTransportOptions extends Connection {
  readonly userAgent?: string;
  /** Timeout of a call in milliseconds, and of the start of a watch. Default: one minute. */
  readonly timeout?: number;
  /** Timeout of a get or a list. Default: `timeout`. */
  readonly readTimeout?: number;
  readonly clock?: Clock;
  /** Limits for an untrusted server; see `FOREIGN_LIMITS`. Default: none. */
  readonly limits?: JsonLimits;
}

/** Limits for the servers of other clusters: above the lists of a large cluster, and the deepest object. */
export const FOREIGN_LIMITS: JsonLimits = { maxBytes: 256 * 1024 * 1024, maxDepth: 1_050, maxParts: 4_000_000 };

export interface HttpsTransport extends HttpTransport {
  /** Replaces the client certificate from the next connection on. */
  renew(identity: { readonly cert: string; readonly key: string }): void;
  /** Closes all connections, including those of running watches. */
  close(): void;
}

/** TCP keep-alive: time that a watch is silent before the kernel probes the peer. */
const KEEP_ALIVE_MS = 30_000;

/** Limit for concurrent calls: each costs a handshake and memory at both ends. More calls wait. */
const MAX_CONNECTIONS = 16;

interface Connections {
  readonly calls: http.Agent;
  /** The agent without a limit. */
  readonly urgent: http.Agent;
}

export function httpsTransport(options: HttpsTransportOptions): HttpsTransport {
  const { clock = systemClock, timeout = 60_000, readTimeout = timeout, limits } = options;
  const base = new URL(options.server);
  const plain = base.protocol === 'http:';
  const connectionsWith = ({ cert, key }: Pick<Connection, 'cert' | 'key'>): Connections => {
    const tls = {
      ca: options.ca || undefined,
      cert: cert || undefined,
      key: key || undefined,
      servername: options.tlsServerName || undefined,
      ...(options.insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
    };
    const agentOf = (limits: http.AgentOptions) =>
      plain ? new http.Agent({ keepAlive: true, ...limits }) : new https.Agent({ keepAlive: true, ...limits, ...tls });
    return { calls: agentOf({ maxSockets: MAX_CONNECTIONS }), urgent: agentOf({}) };
  };
  let identity: Pick<Connection, 'cert' | 'key'> = options;
  let connections = connectionsWith(identity);
  /** The connections with the previous certificate, with the calls and watches that began with them. */
  let former: Connections | undefined;
  /** Connections over which a call had no answer, oldest first: dead ones say nothing, and neither do their watches. */
  let suspects: Connections[] = [];
  const prefix = base.pathname.replace(/\/$/, '');
  const authorization = authorizationOf(options);

  /** Further calls use new connections. */
  function suspect(used: Connections): void {
    if (used !== connections) return;
    suspects = [...suspects, used].filter(isInUse);
    connections = connectionsWith(identity);
  }

  /** The server answers over new connections: what waits for it on the old ones, watches included, is to begin anew. */
  function answered(used: Connections): void {
    if (used !== connections) return;
    for (const each of suspects) closeAll(each);
    suspects = [];
  }

  /** Resolves with the head of the response. */
  function send(request: Sent): Promise<http.IncomingMessage> {
    const { method, url, headers, body } = httpRequestOf(request, options.userAgent);
    const used = connections;
    const settings: https.RequestOptions = {
      method,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (plain ? 80 : 443),
      path: prefix + url,
      agent: isUrgent(request) ? used.urgent : used.calls,
      headers: { ...headers, ...(authorization ? { authorization } : {}) },
    };
    const attempt = (retry: boolean) =>
      new Promise<http.IncomingMessage>((resolve, reject) => {
        const outgoing = (plain ? http : https).request(settings);
        const abort = () => {
          if (request.signal?.reason === NO_ANSWER) suspect(used);
          outgoing.destroy();
        };
        let isAnswered = false;
        request.signal?.addEventListener('abort', abort, { once: true });
        outgoing.on('close', () => request.signal?.removeEventListener('abort', abort));
        outgoing.on('response', (response) => {
          isAnswered = true;
          answered(used);
          resolve(response);
        });
        outgoing.on('error', (error) => {
          // The server may close an idle connection while a request is being sent; reads are retried.
          const stale = retry && !isAnswered && outgoing.reusedSocket && !request.signal?.aborted;
          if (stale && settings.method === 'GET') resolve(attempt(false));
          else reject(error);
        });
        refuseUpgrade(outgoing);
        if (request.verb === 'watch') outgoing.setSocketKeepAlive(true, KEEP_ALIVE_MS);
        outgoing.end(body);
      });
    return attempt(true);
  }

  return {
    ...httpTransport({
      send,
      peer: base.host,
      clock,
      timeoutMs: timeout,
      readTimeoutMs: readTimeout,
      limits,
    }),

    renew(renewed) {
      identity = renewed;
      if (former) closeAll(former);
      former = connections;
      connections = connectionsWith(identity);
    },

    close() {
      for (const each of [former, ...suspects, connections]) if (each) closeAll(each);
    },
  };
}

/**
 * Reports whether a request bypasses the limit: watches stay open, and a lease that waits behind other calls would be
 * renewed too late, as a server would seem dead.
 */
const isUrgent = ({ verb, plural, path }: Sent) => verb === 'watch' || plural === 'leases' || isReadiness(path);

const isInUse = ({ calls, urgent }: Connections) =>
  [calls, urgent].some(({ sockets, freeSockets }) => Object.keys({ ...sockets, ...freeSockets }).length > 0);

function closeAll({ calls, urgent }: Connections): void {
  calls.destroy();
  urgent.destroy();
}

function authorizationOf({ token, username, password }: Connection): string | undefined {
  if (token) return `Bearer ${token}`;
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
}
