/** A TLS connection to the endpoint of an agent, and requests over it. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { ApiError, type Reason, reasons } from '../../../api/errors.ts';
import { errorText } from '../../../api/remote-command/error-text.ts';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import { socketFailure } from '../../../base/sockets/dial/dial-error.ts';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../../base/time/clock.ts';

export interface AgentAddress {
  readonly host: string;
  readonly port: number;
}

/** The credentials of the server towards agents, and the authority to verify them with, as PEM. */
export interface AgentIdentity {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

interface DialOptions {
  readonly node: string;
  readonly address: AgentAddress;
  readonly identity: AgentIdentity;
  readonly guard: DialGuard;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** An agent may run on the machine of the server. Its certificate proves that it belongs to the node. */
const ALLOWANCE = { own: true } as const;

const CONNECT_TIMEOUT_MS = 10_000;
/** TCP keep-alive: time without traffic after which the kernel probes the agent. */
const KEEP_ALIVE_MS = 30_000;

/** An agent that cannot be reached. The message has the reason, in the format of Kubernetes. */
export class DialError extends Error {
  override readonly name = 'DialError';
}

/** Connects to an agent, and verifies that its certificate is that of the node. Rejects with a DialError. */
export async function dialAgent({ node, address, identity, guard, clock, signal }: DialOptions): Promise<TLSSocket> {
  const { host, port } = address;
  try {
    guard.checkHost(host, ALLOWANCE);
  } catch (cause) {
    throw new DialError(socketFailure(cause as Error, host, port), { cause });
  }
  const options: ConnectionOptions & { allowHalfOpen: boolean } = {
    host,
    port,
    ...identity,
    minVersion: 'TLSv1.2',
    servername: node,
    // Missing in the type.
    allowHalfOpen: true,
    lookup: guard.lookup(ALLOWANCE),
    checkServerIdentity: (_name, certificate) => wrongName(node, certificate),
  };
  const socket = connect(options);
  const fail = (message: string, cause?: unknown) => {
    socket.destroy();
    return new DialError(message, { cause });
  };
  return new Promise<TLSSocket>((resolve, reject) => {
    const timer = clock.timer(CONNECT_TIMEOUT_MS, () => reject(fail(`dial tcp ${host}:${port}: i/o timeout`)));
    const abort = () => reject(fail('context canceled'));
    const settled = () => {
      timer.cancel();
      signal?.removeEventListener('abort', abort);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    socket.once('secureConnect', () => {
      settled();
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.setNoDelay(true);
      resolve(socket);
    });
    // Later errors belong to the streams on it; they are followed by `close`.
    socket.on('error', (error) => {
      settled();
      reject(fail(failureOf(error, address), error));
    });
  });
}

/** Checks the certificate for the name of the node. Addresses are self-reported, and prove nothing. */
function wrongName(node: string, { subjectaltname = '' }: PeerCertificate): Error | undefined {
  const names = subjectaltname.split(', ');
  return names.includes(`DNS:${node}`) ? undefined : new Error(`x509: certificate is not valid for ${node}`);
}

function failureOf(error: NodeJS.ErrnoException, { host, port }: AgentAddress): string {
  const { code = '', message } = error;
  if (message.startsWith('x509: ')) return `tls: failed to verify certificate: ${message}`;
  if (/CERT|SELF_SIGNED|ISSUER|VERIFY/.test(code)) return `tls: failed to verify certificate: x509: ${message}`;
  if (code === 'ECONNRESET') return `read tcp ${host}:${port}: read: connection reset by peer`;
  const alert = /alert ([a-z ]+)/.exec(message)?.[1];
  return alert ? `remote error: tls: ${alert}` : socketFailure(error, host, port);
}

/** Sends a GET over its own connection, and resolves with a successful response. Rejects with an ApiError. */
export function getFrom(connection: Duplex, path: string, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => connection,
      path,
      headers: { host: 'agent', connection: 'close' },
      signal,
    });
    request.on('response', (response) => {
      if (response.statusCode === 200) resolve(response);
      else rejectionOf(response).then(reject, reject);
    });
    request.on('error', reject);
    refuseUpgrade(request);
    request.end();
  });
}

/** Opens a connection through the agent to an address reachable from it. Rejects with an ApiError, or with an Error. */
export function connectThrough(connection: Duplex, authority: string, signal?: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => connection,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority },
      signal,
    });
    request.on('connect', (response: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      // The body of a rejection is not parsed here: it arrives on the socket.
      if (head.length > 0) socket.unshift(head);
      rejectionOf(response, socket).then(reject, reject);
    });
    request.on('error', reject);
    request.end();
  });
}

/** Returns the error of a response: agents respond with a code and a text. */
async function rejectionOf(response: IncomingMessage, body: AsyncIterable<Buffer> = response): Promise<Error> {
  return agentError(response.statusCode ?? 0, (await errorText(body)).trim());
}

/** Converts an agent's error response to an error for the client of the server. */
export function agentError(code: number, text: string): ApiError {
  const known = (Object.keys(reasons) as Reason[]).find((reason) => reasons[reason].code === code);
  // Codes 401 and 403 are about the server, not about its client.
  const reason = code === 401 || code === 403 || known === undefined ? 'InternalError' : known;
  return new ApiError(reason, text || `the agent answered ${code}`);
}
