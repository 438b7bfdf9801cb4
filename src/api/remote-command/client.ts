/** Opens a SPDY session with a server for exec, attach or port-forward: a container runtime or an agent. */
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { SpdySession } from '../../protocols/spdy/session.ts';
import { ApiError, type Reason, reasons, type Status } from '../errors.ts';
import { errorText } from './error-text.ts';

export interface RemoteTarget {
  readonly url: URL;
  /** An open connection to the server; by default a new one is opened to the host of the URL, without TLS. */
  readonly connection?: Duplex | undefined;
  /** Aborts connecting, or closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens a session for one of the protocols. Rejects with the server's Status as an ApiError, or a RefusedUpgrade. */
export async function openSession(target: RemoteTarget, protocols: readonly string[]): Promise<SpdySession> {
  const socket = await upgraded(target, protocols);
  const session = new SpdySession(socket, { role: 'client' });
  const abort = () => session.destroy();
  target.signal?.addEventListener('abort', abort);
  void session.closed.then(() => target.signal?.removeEventListener('abort', abort));
  if (target.signal?.aborted) abort();
  return session;
}

function upgraded({ url, connection, signal }: RemoteTarget, protocols: readonly string[]): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = plainRequest(url, {
      method: 'POST',
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'SPDY/3.1',
        'X-Stream-Protocol-Version': protocols as string[],
        'Content-Length': '0',
      },
      ...(connection ? { createConnection: () => connection } : { agent: false as const }),
      signal,
    });
    request.on('upgrade', (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('response', (response) => {
      rejection(response).then(reject, reject);
    });
    request.on('error', reject);
    request.end();
  });
}

/** A server that does not switch protocols. The message is the body of its response. */
export class RefusedUpgrade extends Error {
  override readonly name = 'RefusedUpgrade';

  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

async function rejection(response: IncomingMessage): Promise<Error> {
  const text = (await errorText(response)).trim();
  return (
    statusError(text) ??
    new RefusedUpgrade(text || `the server answered ${response.statusCode}`, response.statusCode ?? 0)
  );
}

/** The error that a Status in JSON stands for; undefined if the text is something else. */
function statusError(text: string): ApiError | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { kind, reason, message, details } = JSON.parse(text) as Partial<Status>;
    if (kind !== 'Status' || !reason || !Object.hasOwn(reasons, reason)) return undefined;
    return new ApiError(reason as Reason, message ?? '', details ? { details } : {});
  } catch {
    return undefined;
  }
}
