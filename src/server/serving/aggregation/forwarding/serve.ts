/** Forwards a request to the server behind an APIService, and returns its response. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../../../../api/errors.ts';
import { joined } from '../../../../api/remote-command/joined.ts';
import type { User } from '../../../../api/user.ts';
import { forwardedResponse } from '../../../outbound/services/headers.ts';
import type { ForwardedAnswer } from '../../../outbound/services/send.ts';
import type { ForwardedRequest, ForwardedResponse, ProxiedRequest } from '../../backend.ts';
import type { Exchange } from '../../exchange.ts';
import { checkPath, problemOf, send, unreachableMessage } from './send.ts';
import type { Transport } from './transport.ts';

const TEXT = 'text/plain; charset=utf-8';
const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'];
const SWITCHING_PROTOCOLS = 101;
const BAD_GATEWAY = 502;
const SERVICE_UNAVAILABLE = 503;

/** Responds as Kubernetes does when a server is unavailable. */
export function replyUnavailable(exchange: Exchange): void {
  replyText(exchange, SERVICE_UNAVAILABLE, 'service unavailable');
}

export async function serve(exchange: Exchange, request: ProxiedRequest, transport: Transport): Promise<void> {
  checkPath(request.path);
  const headers = { ...transport.userHeaders(request.user), ...auditHeader(exchange) };
  let answer: ForwardedAnswer;
  const { method, url, headers: sent, signal, peer } = exchange;
  const hasBody = exchange.hasBody();
  const client = { method, headers: sent, signal, address: peer.address, hasBody, body: () => exchange.bodyStream() };
  try {
    answer = await send(client, { path: url, headers }, transport);
  } catch (error) {
    replyText(exchange, SERVICE_UNAVAILABLE, unreachableMessage(error));
    return;
  }
  const problem = problemOf(answer, sent.upgrade !== undefined);
  if (problem !== undefined) {
    answer.request.destroy();
    replyText(exchange, BAD_GATEWAY, problem);
    return;
  }
  await passBack(exchange, request, answer);
}

/** Passes the audit id on, so that the other server's record has the same one. */
function auditHeader({ responseHeaders }: Exchange): Record<string, string> {
  const at = responseHeaders.indexOf('Audit-ID');
  return at < 0 ? {} : { 'Audit-ID': responseHeaders[at + 1]! };
}

async function passBack(exchange: Exchange, request: ProxiedRequest, answer: ForwardedAnswer): Promise<void> {
  const { response, socket } = answer;
  const headers = headersOf(response, exchange);
  if (socket) {
    const client = exchange.upgrade(headers);
    request.goesOn();
    await joined(client, socket).catch(() => undefined);
    return;
  }
  const out = exchange.startResponse(response.statusCode!, headers);
  if (request.isLongRunning) request.goesOn();
  // When either end disconnects, so does the other.
  await pipeline(response, out).catch(() => exchange.abort());
  // The server has responded, and does not get the rest of the request body.
  if (!answer.request.writableFinished) answer.request.destroy();
}

function headersOf({ rawHeaders, statusCode }: IncomingMessage, { responseHeaders }: Exchange): string[] {
  const own = new Set(responseHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const all = forwardedResponse(rawHeaders, statusCode === SWITCHING_PROTOCOLS);
  return all.filter((_, index) => !own.has(all[index - (index % 2)]!.toLowerCase()));
}

function replyText(exchange: Exchange, code: number, text: string): void {
  exchange.reply(code, TEXT, Buffer.from(`${text}\n`), NO_SNIFF);
}

/** The error for a request to an unavailable server, with the message of Kubernetes. */
export const unavailable = () =>
  new ApiError('ServiceUnavailable', 'the server is currently unable to handle the request');

export async function forward(
  { user, method, url, headers, body, signal }: ForwardedRequest & { readonly user: User },
  transport: Transport,
): Promise<ForwardedResponse> {
  checkPath(url.split('?', 1)[0]!);
  const client = {
    method,
    headers,
    signal,
    address: '',
    hasBody: body !== undefined,
    body: () => Readable.from([body]),
  };
  let answer: ForwardedAnswer;
  try {
    answer = await send(client, { path: url, headers: transport.userHeaders(user) }, transport);
  } catch (error) {
    throw new ApiError('ServiceUnavailable', unreachableMessage(error), { cause: error });
  }
  const problem = problemOf(answer, false);
  if (problem === undefined) return answer.response;
  answer.request.destroy();
  throw new ApiError('ServiceUnavailable', problem);
}
