/** Sends a request to the server behind an APIService, and checks the head of its response. */
import { noSuchPath } from '../../base/errors.ts';
import { type ForwardedAnswer, type ForwardedClient, sendForwarded } from '../forwarding/send.ts';
import { splitPath } from '../http/route/path-segments.ts';
import type { Transport } from './transport.ts';

const SWITCHING_PROTOCOLS = 101;
const MAX_STATUS_CODE = 599;
const MAX_ERROR_LENGTH = 1000;

export interface SendOptions {
  /** Path and query. */
  readonly path: string;
  /** Further headers; they replace those of the client. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** What is authorized is what the other server sees: it might understand such segments as another path. */
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
    // A kept connection was closed as it was used again.
    return sendForwarded(client, { ...options, over: transport.fresh });
  }
}

/** Why a request could not be sent. */
export function unreachableMessage(error: unknown): string {
  return `error trying to reach service: ${(error as Error).message}`.slice(0, MAX_ERROR_LENGTH);
}

/** Why a response is not passed back. */
export function problemOf({ response, socket }: ForwardedAnswer, isUpgrade: boolean): string | undefined {
  const { statusCode: code = 0, headers: received } = response;
  if (socket) {
    return code === SWITCHING_PROTOCOLS && isUpgrade
      ? undefined
      : 'the backend switched to a protocol that was not asked for';
  }
  if (code >= 300 && code <= 399 && received.location !== undefined) {
    return 'the backend attempted to redirect this request, which is not permitted';
  }
  return code < 200 || code > MAX_STATUS_CODE ? `the backend answered with the invalid status ${code}` : undefined;
}
