/** Connections to the server behind an APIService. */
import { type Agent, request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { User } from '../../../../api/user.ts';
import { refuseUpgrade } from '../../../../base/http/refuse-upgrade.ts';
import type { APIService } from '../../../../kinds/groups/extension/apiregistration/api-service.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { dialService, endpointsOf, type ServicePort, tlsAgent } from '../../../outbound/services/dial-service.ts';
import type { FrontProxy } from '../front-proxy.ts';
import { namesUsers, STANDARD_HEADERS, type UserHeaderNames, userHeaders } from '../user-headers.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'clock' | 'random'> & Outbound;

const DIAL_TIMEOUT_MS = 10_000;
/** Idle timeout, shorter than that of servers: a connection is seldom closed at the moment of its next use. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 25;

/** The user for requests about the other server itself. */
const AGGREGATOR = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** The fields that determine how a server is reached. */
export type Reach = Pick<APIService['spec'], 'service' | 'caBundle' | 'insecureSkipTLSVerify'>;

export interface Fetched {
  readonly code: number;
  readonly body: Buffer;
  readonly etag: string | undefined;
}

export interface FetchOptions {
  readonly accept: string;
  readonly etag?: string | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export class Transport {
  readonly service: ServicePort;
  /** The `Host` of requests. */
  readonly host: string;
  /** Keeps connections, for requests that can be repeated: the peer may close a connection while it is being reused. */
  readonly kept: Agent;
  /** Opens a connection for every request. */
  readonly fresh: Agent;
  /** Reports whether to remove a header of a client because the server would trust it. */
  readonly isWithheld: (header: string) => boolean;
  readonly #headers: UserHeaderNames;

  constructor(
    private readonly core: Ports,
    reach: Reach,
    identity: FrontProxy | undefined,
  ) {
    const { namespace = '', name = '', port = 443 } = reach.service ?? {};
    this.#headers = identity?.others?.headers ?? STANDARD_HEADERS;
    this.isWithheld = namesUsers(this.#headers);
    this.service = { namespace, name, port };
    const servername = `${name}.${namespace}.svc`;
    this.host = `${servername}:${port}`;
    const tls = {
      servername,
      rejectUnauthorized: reach.insecureSkipTLSVerify !== true,
      ca: reach.caBundle ? Buffer.from(reach.caBundle, 'base64') : undefined,
      ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
    };
    const dial = () => this.#dial();
    this.kept = tlsAgent(dial, tls, {
      keepAlive: true,
      maxFreeSockets: MAX_IDLE_CONNECTIONS,
      timeout: IDLE_TIMEOUT_MS,
    });
    this.fresh = tlsAgent(dial, tls, {});
  }

  /** Closes idle connections. */
  close(): void {
    this.kept.destroy();
  }

  userHeaders(user: User): Record<string, string | string[]> {
    return userHeaders(user, this.#headers);
  }

  /** Returns the number of ready endpoints; 1 if unknown. */
  endpoints(): number {
    return endpointsOf(this.core, this.service)?.length ?? 1;
  }

  /** Fetches a document as this server. Rejects when it is too large, late or redirected. */
  async fetch(path: string, { accept, etag, maxBytes, timeoutMs }: FetchOptions): Promise<Fetched> {
    const late = new AbortController();
    const timer = this.core.clock.timer(timeoutMs, () => late.abort());
    try {
      return await new Promise((resolve, reject) => {
        const headers = {
          accept,
          host: this.host,
          ...this.userHeaders(AGGREGATOR),
          ...(etag ? { 'if-none-match': etag } : {}),
        };
        const call = request({ path, agent: this.fresh, signal: late.signal, setHost: false, headers }, (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > maxBytes) call.destroy(new Error(`the response is larger than ${maxBytes} bytes`));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({ code: response.statusCode ?? 0, body: Buffer.concat(chunks), etag: response.headers.etag }),
          );
        });
        call.on('error', reject);
        refuseUpgrade(call);
        call.end();
      });
    } catch (error) {
      throw late.signal.aborted ? new Error('context deadline exceeded', { cause: error }) : error;
    } finally {
      timer.cancel();
    }
  }

  async #dial(): Promise<Duplex> {
    const late = new AbortController();
    const timer = this.core.clock.timer(DIAL_TIMEOUT_MS, () => late.abort(new Error('i/o timeout')));
    try {
      return await dialService(this.core, this.service, late.signal);
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }
}
