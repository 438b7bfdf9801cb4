/** Calls a method of a driver on its socket. */
import { pathToFileURL } from 'node:url';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Method } from '../../../protocols/grpc/call.ts';
import { GrpcClient } from '../../../protocols/grpc/client.ts';
import { GrpcError, GrpcStatus } from '../../../protocols/grpc/status.ts';

const CALL_TIMEOUT_MS = 120_000;

interface SocketCall<Request, Response> {
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** Calls a driver over a new connection: calls are rare, and drivers restart. Rejects with a GrpcError. */
export async function callSocket<Request, Response>(
  socket: string,
  { method, request, clock, timeoutMs = CALL_TIMEOUT_MS }: SocketCall<Request, Response>,
): Promise<Response> {
  const timeout = new AbortController();
  const late = sleep(clock, timeoutMs, timeout.signal).then(
    () => Promise.reject(new GrpcError(GrpcStatus.DEADLINE_EXCEEDED, 'context deadline exceeded')),
    () => undefined as never,
  );
  const work = callOnce(socket, method, request, { clock, signal: timeout.signal });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timeout.abort();
  }
}

async function callOnce<Request, Response>(
  socket: string,
  method: Method<Request, Response>,
  request: Request,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Response> {
  const url = new URL(pathToFileURL(socket.replace(/^unix:(\/\/)?/, '')).href.replace(/^file:/, 'unix:'));
  const client = await GrpcClient.connect({ url, clock, signal });
  const close = () => client.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      client.unary(method, request, (error, response) => (error ? reject(error) : resolve(response as Response)));
    });
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

const CODE_NAMES = new Map(Object.entries(GrpcStatus).map(([name, code]): [number, string] => [code, name]));

/** Formats an error of gRPC as Go does, with the code as in `InvalidArgument`. */
export function rpcMessage({ code, message }: GrpcError): string {
  const words = (CODE_NAMES.get(code) ?? 'UNKNOWN').toLowerCase().split('_');
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return `rpc error: code = ${name} desc = ${message}`;
}
