/** Sends a request to the server behind an APIService, and checks the head of its response. */
import { noSuchPath } from '../../../../api/errors.ts';
import {
  type ForwardedAnswer,
  type ForwardedClient,
  headProblem,
  sendForwarded,
} from '../../../outbound/services/send.ts';
import { splitPath } from '../../http/route/route.ts';
import type { Transport } from './transport.ts';

const MAX_ERROR_LENGTH = 1000;

export interface SendOptions {
  /** Path and query. */
  readonly path: string;
  /** Additional headers, which replace those of the client. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Rejects paths that the other server might interpret differently: the authorized path must be the one it sees. */
export function checkPath(path: string): void {
  const [, ...segments] = splitPath(path);
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) throw noSuchPath();
}

/** Resolves when the response has begun. */
export async function send(
  client: ForwardedClient,
  { path, headers }: SendOptions,
  transport: Transport,
): Promise<ForwardedAnswer> {
  const canRepeat = !client.hasBody && client.headers.upgrade === undefined;
  const options = { host: transport.host, path, headers, isWithheld: transport.isWithheld };
  try {
    return await sendForwarded(client, { ...options, over: canRepeat ? transport.kept : transport.fresh });
  } catch (error) {
    if (!canRepeat || client.signal.aborted || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    // A kept connection was closed while being reused.
    return sendForwarded(client, { ...options, over: transport.fresh });
  }
}

export function unreachableMessage(error: unknown): string {
  return `error trying to reach service: ${(error as Error).message}`.slice(0, MAX_ERROR_LENGTH);
}

/** Returns why a response is not passed back. */
export function problemOf(answer: ForwardedAnswer, isUpgrade: boolean): string | undefined {
  const { statusCode: code = 0, headers: received } = answer.response;
  if (code >= 300 && code <= 399 && received.location !== undefined) {
    return 'the backend attempted to redirect this request, which is not permitted';
  }
  return headProblem(answer, isUpgrade);
}
