/**
 * Reaches aggregated APIs through the server in the same process, which forwards requests as it does those from the
 * network. The servers behind them are untrusted: their responses are limited in size, and metadata is checked.
 */
import { ApiError } from '../../api/errors.ts';
import type { Clock } from '../../base/time/clock.ts';
import { foreignTransport } from './foreign-transport.ts';
import { type Body, failureOf, type HttpResponse, statusIn } from './http/http-answer.ts';
import { type HttpRequest, httpRequestOf } from './http/http-request.ts';
import { httpTransport } from './http/http-transport.ts';
import type { Transport } from './transport.ts';

/** The server's function that forwards requests: see `server.forward`. */
export type Forward = (request: HttpRequest & { readonly signal: AbortSignal }) => Promise<HttpResponse>;

const PEER = 'the aggregated API server';
const TIMEOUT_MS = 60_000;
const LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 100, maxParts: 2_000_000 };
/** Limit for one metadata-only list, the only lists that are requested. */
const MAX_LIST_BYTES = 256 * 1024 * 1024;

/** `forward` sends requests as one user, who needs the rights for each. */
export function forwardedTransport(forward: Forward, { clock }: { readonly clock: Clock }): Transport {
  const transport = httpTransport({
    peer: PEER,
    clock,
    timeoutMs: TIMEOUT_MS,
    limits: LIMITS,
    failureOf: foreignFailure,
    send: (request) => forward({ ...httpRequestOf(request), signal: request.signal }),
  });
  return foreignTransport(transport, { peer: PEER, maxListBytes: MAX_LIST_BYTES });
}

/** Converts an error. Only a Status confirms that something does not exist: another 404 may be a proxy's. */
function foreignFailure(body: Body): ApiError {
  const failure = failureOf(body);
  if (failure.reason !== 'NotFound' || statusIn(body.text)) return failure;
  return new ApiError('ServiceUnavailable', failure.message);
}
