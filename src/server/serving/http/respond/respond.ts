import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ApiError, isApiError, type Status } from '../../../../api/errors.ts';
import type { ListBody, ListReply, ObjectReply, StatusReply } from '../../../../api/reply.ts';
import { makeMovable } from '../../../../base/bytes/shared-buffer.ts';
import { prettyJson } from '../../codec/pretty-json.ts';
import { encodeYaml, encodeYamlList, encodeYamlObject } from '../../codec/yaml.ts';
import { type Exchange, type HeaderList, LARGE_RESPONSE_BYTES, NO_HEADERS } from '../../exchange.ts';
import { PROTOBUF_TYPE } from '../../protobuf/envelope.ts';
import { Disconnected, HttpError } from '../errors.ts';
import type { Query } from '../route/query.ts';
import { errorFormat, type Representation } from './accept.ts';

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** Minimum size for compression: below it, compressing would cost more than it saves. */
export const MIN_GZIP_BYTES = 128 * 1024;
const GZIPPED: HeaderList = ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'];
const compress = promisify(gzip);

/** The representation that the client prefers for its response. */
export interface ResponsePreference extends Representation {
  readonly warnings: readonly string[] | undefined;
}

type WholeReply = ObjectReply | ListReply | StatusReply;

interface Head {
  readonly code: number;
  readonly extra: HeaderList;
}

/** Sends an object, a list or a status; synchronously unless it must be compressed or encoded again. */
export function sendReply(
  exchange: Exchange,
  reply: WholeReply,
  preference: ResponsePreference,
): Promise<void> | undefined {
  const room = isLarge(reply) ? exchange.room() : undefined;
  const encode = () => encodeReply(exchange, reply, preference);
  if (room) return room.then(() => encodedInTurns(reply)).then(encode);
  const encoding = encodedInTurns(reply);
  return encoding ? encoding.then(encode) : encode();
}

/** Encodes the items of a list over several turns if necessary. Returns undefined when done synchronously. */
function encodedInTurns(reply: WholeReply): Promise<void> | undefined {
  return reply.type === 'list' ? reply.encode() : undefined;
}

/** Reports whether a reply may be large. Encodes only what will be cached. */
function isLarge(reply: WholeReply): boolean {
  return reply.type === 'list' || (reply.type === 'object' && reply.item.json().length > LARGE_RESPONSE_BYTES);
}

function encodeReply(exchange: Exchange, reply: WholeReply, preference: ResponsePreference): Promise<void> | undefined {
  const code = reply.type === 'status' ? reply.status.code : 200;
  const extra = preference.warnings ? warningHeaders(preference.warnings) : NO_HEADERS;
  if (preference.format === 'yaml' || preference.pretty) {
    return sendFormatted(exchange, reply, { code, extra, ...preference });
  }
  const body = bytesOf(reply);
  if (body.length < MIN_GZIP_BYTES || !acceptsGzip(exchange)) {
    exchange.reply(code, JSON_TYPE, body, extra);
    return undefined;
  }
  const cached = reply.type === 'list' ? reply.gzip : undefined;
  const compressed = cached ? cached() : compress(body, { level: 1 });
  return compressed.then((bytes) => exchange.reply(code, JSON_TYPE, bytes, [...GZIPPED, ...extra]));
}

/** Sends a document that is cached as an object, such as discovery. */
export function sendDocument(exchange: Exchange, tree: object, preference: ResponsePreference): Promise<void> {
  return sendTree(exchange, tree, { code: 200, extra: NO_HEADERS, ...preference });
}

export async function sendEncoded(
  exchange: Exchange,
  { bytes, gzip: cached }: ListBody,
  { contentType, code, warnings }: EncodedHead,
): Promise<void> {
  const extra = warnings ? warningHeaders(warnings) : NO_HEADERS;
  if (bytes.length < MIN_GZIP_BYTES || !acceptsGzip(exchange)) return exchange.reply(code, contentType, bytes, extra);
  const compressed = await (cached ? cached() : compress(bytes, { level: 1 }));
  exchange.reply(code, contentType, compressed, [...GZIPPED, ...extra]);
}

interface EncodedHead {
  readonly contentType: string;
  readonly code: number;
  readonly warnings: readonly string[] | undefined;
}

interface ErrorOptions extends Pick<ResponsePreference, 'pretty' | 'warnings'> {
  /** Encodes a Status in protobuf. */
  readonly protobuf: (status: Status) => Buffer;
}

/** Sends an error. Returns it if it is unexpected, so that it can be logged. */
export async function sendError(
  exchange: Exchange,
  error: unknown,
  { pretty, warnings, protobuf }: ErrorOptions,
): Promise<unknown> {
  if (error instanceof Disconnected) return undefined;
  const status = statusOf(error);
  const { code } = status;
  const extra = warnings ? [...retryHeaders(status), ...warningHeaders(warnings)] : retryHeaders(status);
  const format = errorFormat(exchange.headers.accept);
  if (format === 'protobuf') exchange.reply(code, PROTOBUF_TYPE, protobuf(status), extra);
  else await sendTree(exchange, status, { code, extra, format, pretty });
  return isKnown(error) ? undefined : error;
}

export function statusOf(error: unknown): Status {
  return isKnown(error) ? error.toStatus() : INTERNAL;
}

/** Reports whether an error was raised on purpose. Unexpected ones are wrapped in an InternalError as its cause. */
export function isForeseen(error: unknown): boolean {
  return isKnown(error) && !(isApiError(error, 'InternalError') && error.cause !== undefined);
}

function isKnown(error: unknown): error is ApiError | HttpError {
  return isApiError(error) || error instanceof HttpError;
}

const INTERNAL: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'an error on the server has prevented the request from succeeding',
  reason: 'InternalError',
  code: 500,
};

async function sendTree(
  exchange: Exchange,
  tree: object,
  { code, extra, format, pretty }: Head & Representation,
): Promise<void> {
  const yaml = format === 'yaml';
  const body = yaml ? await encodeYaml(tree) : encode(tree, pretty);
  return sendBody(exchange, body, { code, extra, format });
}

async function sendBody(
  exchange: Exchange,
  body: Buffer,
  { code, extra, format }: Head & Pick<Representation, 'format'>,
): Promise<void> {
  const type = format === 'yaml' ? YAML_TYPE : JSON_TYPE;
  if (body.length < MIN_GZIP_BYTES || !acceptsGzip(exchange)) {
    return exchange.reply(code, type, makeMovable(body), extra);
  }
  exchange.reply(code, type, makeMovable(await compress(body, { level: 1 })), [...GZIPPED, ...extra]);
}

/** Sends a reply as YAML, or indented. A large one is encoded part by part, while other requests are served. */
async function sendFormatted(exchange: Exchange, reply: WholeReply, head: Head & Representation): Promise<void> {
  if (reply.type === 'status') return sendTree(exchange, reply.status, head);
  const yaml = reply.type === 'list' ? () => encodeYamlList(reply) : () => encodeYamlObject(bytesOf(reply));
  const body = head.format === 'yaml' ? await yaml() : await prettyJson(bytesOf(reply));
  return sendBody(exchange, body, head);
}

export function bytesOf(reply: WholeReply): Buffer {
  switch (reply.type) {
    case 'object':
      return reply.item.json();
    case 'list':
      return reply.json();
    case 'status':
      return encode(reply.status);
  }
}

function encode(tree: object, pretty = false): Buffer {
  return Buffer.from(pretty ? `${JSON.stringify(tree, null, 2)}\n` : JSON.stringify(tree));
}

/** Reports whether a response is indented: on request, or for interactive clients. */
export function isPretty({ headers }: Exchange, { pretty }: Pick<Query, 'pretty'>): boolean {
  return pretty ?? isInteractive(headers['user-agent']);
}

function isInteractive(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0');
}

export function acceptsGzip({ headers }: Exchange): boolean {
  const header = headers['accept-encoding'];
  if (header === undefined) return false;
  return String(header)
    .split(',')
    .some((token) => token.trim() === 'gzip');
}

/** Limit for all warnings together: beyond it, each is truncated, and those that still do not fit are left out. */
const MAX_WARNINGS_LENGTH = 4096;
const MAX_TRUNCATED_WARNING_LENGTH = 256;

export function warningHeaders(warnings: readonly string[]): HeaderList {
  const whole = warnings.reduce((sum, { length }) => sum + length, 0) <= MAX_WARNINGS_LENGTH;
  let room = MAX_WARNINGS_LENGTH;
  return warnings.flatMap((warning) => {
    if (room <= 0) return [];
    const text = whole ? warning : warning.slice(0, MAX_TRUNCATED_WARNING_LENGTH);
    room -= text.length;
    return ['Warning', `299 - "${headerText(text)}"`];
  });
}

/** Escapes a text for a quoted string in a header. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').replace(/["\\]/g, (char) => `\\${char}`);
}

/** Returns the headers for retries. An eviction denied by a budget has none, and neither has a 503 with 0 seconds. */
function retryHeaders({ code, details }: Status): HeaderList {
  const seconds = details?.retryAfterSeconds ?? (code === 503 ? 1 : 0);
  return seconds > 0 ? ['Retry-After', String(seconds)] : NO_HEADERS;
}
