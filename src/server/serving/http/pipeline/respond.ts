import type { Writable } from 'node:stream';
import { textUpgrade } from '../../../../api/remote-command/upgrade.ts';
import type { ConnectionReply, Reply, StreamReply, WatchConsumer, WatchReply } from '../../../../api/reply.ts';
import type { Logger } from '../../../../base/log.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { RequestOutcome } from '../../../access/audit/event.ts';
import { type Exchange, NO_HEADERS } from '../../exchange.ts';
import { PROTOBUF_TYPE } from '../../protobuf/envelope.ts';
import type { ProtobufReplies } from '../../protobuf/replies.ts';
import { includeOf, type ObjectForm } from '../../representations/forms.ts';
import { shapeReply } from '../../representations/reply.ts';
import { showsManagers, withoutManagers } from '../../representations/without-managers.ts';
import type { Representation } from '../respond/accept.ts';
import { bytesOf, isPretty, sendEncoded, sendError, sendReply, warningHeaders } from '../respond/respond.ts';
import { TextStream } from '../respond/text-stream.ts';
import type { Query } from '../route/query.ts';
import type { ObjectRequest } from './object-request.ts';
import type { OpenStreams } from './open-streams.ts';

const SWITCHING_PROTOCOLS = 101;
const MAX_LOGGED_URL_LENGTH = 200;
const PLAIN_JSON: Representation = { format: 'json', pretty: false };

export interface RespondOptions {
  readonly clock: Clock;
  readonly streams: OpenStreams;
  readonly protobuf: ProtobufReplies;
}

/** Sends a reply and completes the request, at once or when a stream ends. Returns undefined if synchronous. */
export function respondStage({ clock, streams, protobuf }: RespondOptions) {
  const now = () => clock.now();

  return (request: ObjectRequest, reply: Reply, representation: Representation<ObjectForm>) => {
    const { form, format } = representation;
    if (format === 'protobuf') return sendProtobuf(request, reply, form?.version);
    const { route, query, exchange } = request;
    const shaped = form
      ? shapeReply(reply, { form, include: includeOf(query.includeObject), resource: route.resource, now })
      : showsManagers(exchange.headers['user-agent'])
        ? withoutManagers(reply)
        : reply;
    return shaped instanceof Promise
      ? shaped.then((ready) => send(request, ready, representation))
      : send(request, shaped, representation);
  };

  function send(request: ObjectRequest, reply: Reply, representation: Representation): Promise<void> | undefined {
    if (streams.isDraining) request.exchange.closeAfterResponse();
    switch (reply.type) {
      case 'watch':
        return startWatch(request, reply, 'application/json');
      case 'stream':
        return sendText(request, reply);
      case 'connection':
        return serveConnection(request, reply);
      default:
        return sendWhole(request, reply, representation);
    }
  }

  /** `metadataVersion`: the version of the metadata-only form, if requested. */
  async function sendProtobuf(
    request: ObjectRequest,
    reply: Reply,
    metadataVersion: string | undefined,
  ): Promise<void> {
    if (streams.isDraining) request.exchange.closeAfterResponse();
    if (reply.type === 'watch') {
      return startWatch(request, protobuf.watch(reply, metadataVersion), `${PROTOBUF_TYPE};stream=watch`);
    }
    if (reply.type === 'stream' || reply.type === 'connection') return send(request, reply, PLAIN_JSON);
    const { exchange, lifecycle, notes } = request;
    const room = reply.type === 'list' ? exchange.room() : undefined;
    if (room) await room;
    const encoded = protobuf.encode(reply, metadataVersion);
    // The reply of a subresource may have no protobuf form.
    if (!encoded) return sendWhole(request, reply, PLAIN_JSON);
    if (lifecycle.record) lifecycle.setOutcome(outcomeOf(reply));
    const code = reply.type === 'status' ? reply.status.code : 200;
    const body = encoded instanceof Promise ? await encoded : encoded;
    await sendEncoded(exchange, body, { contentType: PROTOBUF_TYPE, code, warnings: notes.warnings });
    request.complete();
  }

  function sendWhole(
    request: ObjectRequest,
    reply: WholeReply,
    { format, pretty }: Representation,
  ): Promise<void> | undefined {
    const { exchange, lifecycle, query, notes } = request;
    if (lifecycle.record) lifecycle.setOutcome(outcomeOf(reply));
    const preference = { format, pretty: pretty || isPretty(exchange, query), warnings: notes.warnings };
    const sending = sendReply(exchange, reply, preference);
    if (sending) return sending.then(() => request.complete());
    request.complete();
    return undefined;
  }

  async function startWatch(request: ObjectRequest, reply: WatchReply, contentType: string): Promise<void> {
    const { exchange, lifecycle, notes } = request;
    let isClosed = false;
    let consumer: WatchConsumer | undefined;
    const onClose = () => {
      isClosed = true;
      if (consumer) streams.delete(consumer);
      reply.stop();
      request.complete();
    };
    try {
      const extra = notes.warnings ? warningHeaders(notes.warnings) : NO_HEADERS;
      const started = exchange.startWatch({ contentType, extra }, onClose);
      consumer = started instanceof Promise ? await started : started;
      if (!isClosed) {
        reply.attach(consumer);
        streams.add(consumer);
      }
    } catch (error) {
      consumer?.end();
      reply.stop();
      throw error;
    }
    lifecycle.startStreaming(exchange.code || SWITCHING_PROTOCOLS);
  }

  async function sendText(request: ObjectRequest, { contentType, pieces }: StreamReply): Promise<void> {
    const { exchange, lifecycle } = request;
    const text = new TextStream(pieces, startText(exchange, contentType));
    lifecycle.startStreaming(exchange.code);
    streams.add(text);
    try {
      await text.run();
    } finally {
      streams.delete(text);
    }
    request.complete();
  }

  async function serveConnection(request: ObjectRequest, reply: ConnectionReply): Promise<void> {
    const { exchange, lifecycle } = request;
    const { method, url, headers, signal, peer } = exchange;
    const connection = { end: () => exchange.abort() };
    try {
      await reply.serve({
        method,
        url,
        headers,
        signal,
        address: peer.address,
        hasBody: exchange.hasBody(),
        body: () => exchange.bodyStream(),
        respond(code, responseHeaders) {
          const out = exchange.startResponse(code, responseHeaders);
          lifecycle.startStreaming(code);
          streams.add(connection);
          return out;
        },
        upgrade(responseHeaders) {
          const socket = exchange.upgrade(responseHeaders);
          lifecycle.startStreaming(exchange.code);
          streams.add(connection);
          return socket;
        },
      });
    } finally {
      streams.delete(connection);
    }
    request.complete();
  }
}

/** Starts a text response: the body of the response, or messages of a WebSocket. Throws a BadRequest otherwise. */
function startText(exchange: Exchange, contentType: string): Writable {
  if (exchange.watchFraming !== 'frames') return exchange.startText(contentType, NO_HEADERS);
  const upgrade = textUpgrade(exchange);
  return upgrade.start(exchange.upgrade(upgrade.headers));
}

type WholeReply = Exclude<Reply, WatchReply | StreamReply | ConnectionReply>;

/** Returns the result for the audit log. */
function outcomeOf(reply: WholeReply): RequestOutcome {
  const status = reply.type === 'status' ? reply.status : undefined;
  return { code: status?.code ?? 200, status, body: () => bytesOf(reply) };
}

interface RespondErrorOptions {
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
