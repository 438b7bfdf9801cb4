/** One server behind the proxy: requests to it, with the credentials of a connection, and what is open to it. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '../../base/http/refuse-upgrade.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { endToEnd } from './headers.ts';

export interface UpstreamOptions {
  readonly connection: Connection;
  readonly appendServerPath: boolean;
  /** Milliseconds; 0: the system's default. */
  readonly keepalive: number;
}

export class Upstream {
  readonly server: string;
  readonly #options: UpstreamOptions;
  readonly #base: URL;
  readonly #isPlain: boolean;
  readonly #agent: http.Agent;
  /** Connections that the agent does not know. */
  readonly #upgraded = new Set<Duplex>();

  constructor(server: string, options: UpstreamOptions) {
    const { connection, keepalive } = options;
    this.server = server;
    this.#options = options;
    this.#base = new URL(server);
    this.#isPlain = this.#base.protocol === 'http:';
    const keepAliveOptions = { keepAlive: true, keepAliveMsecs: keepalive > 0 ? keepalive : undefined };
    this.#agent = this.#isPlain
      ? new http.Agent(keepAliveOptions)
      : new https.Agent({ ...keepAliveOptions, ...tlsOptions(connection) });
  }

  /**
   * Begins a request. `onConnected` is called once there is a connection for it: when the request fails before, the server has seen
   * nothing of it.
   */
  open(
    incoming: http.IncomingMessage,
    path: string,
    { own, isUpgrade = false }: { readonly own: http.OutgoingHttpHeaders; readonly isUpgrade?: boolean },
    onConnected: () => void,
  ): http.ClientRequest {
    const { connection, appendServerPath } = this.#options;
    const base = this.#base;
    const isPlain = this.#isPlain;
    const authorization = authorizationOf(connection);
    const call = (isPlain ? http : https).request({
      method: incoming.method,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (isPlain ? 80 : 443),
      path: (appendServerPath ? base.pathname.replace(/\/$/, '') : '') + path,
      agent: isUpgrade ? false : this.#agent,
      ...(isUpgrade ? tlsOptions(connection) : {}),
      headers: {
        ...endToEnd(incoming.headers),
        ...own,
        host: base.host,
        // Credentials of the client take precedence.
        ...(authorization && !incoming.headers.authorization ? { authorization } : {}),
      },
    });
    if (!isUpgrade) refuseUpgrade(call);
    call.on('socket', (socket) => {
      if (call.reusedSocket) onConnected();
      else socket.once(isPlain ? 'connect' : 'secureConnect', onConnected);
      if (!isUpgrade) return;
      this.#upgraded.add(socket);
      socket.once('close', () => this.#upgraded.delete(socket));
    });
    return call;
  }

  /** Closes all connections, used ones too. */
  close(): void {
    this.#agent.destroy();
    for (const each of this.#upgraded) each.destroy();
  }
}

function tlsOptions({ ca, cert, key, tlsServerName, insecureSkipTlsVerify }: Connection): https.AgentOptions {
  return {
    ca: ca || undefined,
    cert: cert || undefined,
    key: key || undefined,
    servername: tlsServerName || undefined,
    ...(insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
  };
}

function authorizationOf({ token, username, password }: Connection): string | undefined {
  if (token) return `Bearer ${token}`;
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
}
