import type { Logger } from '../../../../base/log.ts';
import type { Exchange } from '../../exchange.ts';
import type { ProtobufReplies } from '../../protobuf/replies.ts';
import { isPretty, sendError } from '../respond/respond.ts';
import type { Query } from '../route/query.ts';
import type { OpenStreams } from './open-streams.ts';

const MAX_LOGGED_URL_LENGTH = 200;

export interface RespondErrorOptions {
  readonly log: Logger;
  readonly streams: OpenStreams;
  readonly protobuf: Pick<ProtobufReplies, 'status'>;
}

/** Responds with an error. Errors of the server are logged. */
export function respondErrorStage({ log, streams, protobuf }: RespondErrorOptions) {
  return async (exchange: Exchange, error: unknown, query: Query, warnings?: readonly string[]): Promise<void> => {
    const { method, url } = exchange;
    if (streams.isDraining) exchange.closeAfterResponse();
    const unexpected = await sendError(exchange, error, {
      pretty: isPretty(exchange, query),
      warnings,
      protobuf: (status) => protobuf.status(status),
    });
    if (unexpected)
      log.error('a request failed', { method, url: url.slice(0, MAX_LOGGED_URL_LENGTH), error: unexpected });
  };
}
