/**
 * Reaches aggregated APIs through the server in the same process, which passes requests on as it does those from the network.
 * The servers behind them are other people's programs: their answers have limits, and metadata is checked.
 */
import { ApiError } from '../../base/errors.ts';
import type { Clock } from '../../base/time/clock.ts';
import { checkMetadata, checkVersion } from './foreign-metadata.ts';
import { type Body, failureOf, type HttpResponse, statusIn } from './http-answer.ts';
import { type HttpRequest, httpRequestOf } from './http-request.ts';
import { httpTransport } from './http-transport.ts';
import type { Answer, RawEvent, Transport, WatchStream } from './transport.ts';

/** What the transport needs of the server: see `server.forward`. */
export type Forward = (request: HttpRequest & { readonly signal: AbortSignal }) => Promise<HttpResponse>;

const TIMEOUT_MS = 60_000;
const LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 100 };

/** `forward` sends requests as one user, who needs the rights for each. */
export function forwardedTransport(forward: Forward, { clock }: { readonly clock: Clock }): Transport {
  const transport = httpTransport({
    ...{ peer: 'the aggregated API server', clock, timeoutMs: TIMEOUT_MS, limits: LIMITS, failureOf: foreignFailure },
    send: (request) => forward({ ...httpRequestOf(request), signal: request.signal }),
  });
  return {
    call: async (request) => checkedAnswer(await transport.call(request)),
    watch: async (request) => checkedStream(await transport.watch(request)),
  };
}

/** Only a Status says that something does not exist: any other 404 may be that of a program on the way. */
function foreignFailure(body: Body): ApiError {
  const failure = failureOf(body);
  if (failure.reason !== 'NotFound' || statusIn(body.text)) return failure;
  return new ApiError('ServiceUnavailable', failure.message);
}

function checkedAnswer(answer: Answer): Answer {
  switch (answer.type) {
    case 'object':
      checkMetadata(answer.object);
      return answer;
    case 'list':
      for (const item of answer.items) checkMetadata(item);
      return { ...answer, metadata: checkVersion(answer.metadata) };
    case 'status':
      return answer;
  }
}

function checkedStream(stream: WatchStream): WatchStream {
  async function* batches() {
    for await (const batch of stream) {
      batch.forEach(checkEvent);
      yield batch;
    }
  }
  return { [Symbol.asyncIterator]: batches, close: () => stream.close() };
}

const EVENTS: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function checkEvent(event: RawEvent): void {
  if (!EVENTS.has(event?.type)) throw new ApiError('InternalError', 'the aggregated API server sent an unknown event');
  if (event.type !== 'ERROR') checkMetadata(event.object);
}
