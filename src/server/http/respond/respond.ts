import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ApiError, isApiError, type Status } from '../../../base/errors.ts';
import type { ListReply, ObjectReply, StatusReply } from '../../api.ts';
import { encodeYaml } from '../body/yaml.ts';
import { Disconnected, HttpError } from '../errors.ts';
import { type Exchange, type HeaderList, NO_HEADERS } from '../protocol/exchange.ts';
import { negotiate, type Representation } from './accept.ts';

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** Below this, compressing costs more than it saves. */
export const LARGE = 128 * 1024;
const GZIPPED: HeaderList = ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'];
const compress = promisify(gzip);

/** How the client wants its reply. */
export interface Wish extends Representation {
  readonly warnings: readonly string[] | undefined;
}

type WholeReply = ObjectReply | ListReply | StatusReply;

/** What stands in front of a body. */
interface Head {
  readonly code: number;
  readonly extra: HeaderList;
}

/** Answers with an object, a list or a status; at once, where nothing has to be compressed or written anew. */
export function sendReply(exchange: Exchange, reply: WholeReply, wish: Wish): Promise<void> | undefined {
  const code = reply.type === 'status' ? reply.status.code : 200;
  const extra = wish.warnings ? warningHeaders(wish.warnings) : NO_HEADERS;
  if (wish.format === 'yaml' || wish.pretty) return sendTree(exchange, treeOf(reply), { code, extra, ...wish });
  const body = bytesOf(reply);
  if (body.length < LARGE || !acceptsGzip(exchange)) {
    exchange.reply(code, JSON_TYPE, body, extra);
    return undefined;
  }
  const kept = reply.type === 'list' ? reply.gzip : undefined;
  const smaller = kept ? kept() : compress(body, { level: 1 });
  return smaller.then((bytes) => exchange.reply(code, JSON_TYPE, bytes, [...GZIPPED, ...extra]));
}

/** Answers with something that is kept as a tree: a document of discovery. */
export function sendDocument(exchange: Exchange, tree: object, wish: Wish): Promise<void> {
  return sendTree(exchange, tree, { code: 200, extra: NO_HEADERS, ...wish });
}

/** Answers with a failure. Whatever is no failure of the request is the server's own, and is returned to be logged. */
export async function sendError(
  exchange: Exchange,
  error: unknown,
  { pretty, warnings }: Pick<Wish, 'pretty' | 'warnings'>,
): Promise<unknown> {
  if (error instanceof Disconnected) return undefined;
  const status = statusOf(error);
  const { code } = status;
  const extra = warnings ? [...retryHeaders(status), ...warningHeaders(warnings)] : retryHeaders(status);
  await sendTree(exchange, status, { code, extra, format: acceptedFormat(exchange), pretty });
  return isKnown(error) ? undefined : error;
}

/** What a client is told of an error. */
export function statusOf(error: unknown): Status {
  return isKnown(error) ? error.toStatus() : INTERNAL;
}

/** Whether somebody meant it to happen; what went wrong by itself is kept as the cause of an internal error. */
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
  { code, extra, ...wish }: Head & Representation,
): Promise<void> {
  const yaml = wish.format === 'yaml';
  const body = yaml ? await encodeYaml(tree) : encode(tree, wish.pretty);
  const type = yaml ? YAML_TYPE : JSON_TYPE;
  if (body.length < LARGE || !acceptsGzip(exchange)) return exchange.reply(code, type, body, extra);
  exchange.reply(code, type, await compress(body, { level: 1 }), [...GZIPPED, ...extra]);
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

function treeOf(reply: WholeReply): object {
  switch (reply.type) {
    case 'object':
      return reply.item.object;
    case 'status':
      return reply.status;
    case 'list':
      return JSON.parse(reply.json().toString('utf8'));
  }
}

function encode(tree: object, pretty = false): Buffer {
  return Buffer.from(pretty ? `${JSON.stringify(tree, null, 2)}\n` : JSON.stringify(tree));
}

/** A failure is not hidden behind another one: a client that takes nothing on offer gets it as JSON. */
function acceptedFormat({ headers }: Exchange): Representation['format'] {
  try {
    return negotiate(headers.accept).format;
  } catch {
    return 'json';
  }
}

/** Programs that people read over the shoulder of get indented output. */
export function isReadByPeople(userAgent: string | undefined): boolean {
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

/** Characters of all warnings together; when they are more, each is cut, and those beyond are left out. */
const ALL_WARNINGS = 4096;
const ONE_OF_MANY = 256;

export function warningHeaders(warnings: readonly string[]): HeaderList {
  const whole = warnings.reduce((sum, { length }) => sum + length, 0) <= ALL_WARNINGS;
  let room = ALL_WARNINGS;
  return warnings.flatMap((warning) => {
    if (room <= 0) return [];
    const text = whole ? warning : warning.slice(0, ONE_OF_MANY);
    room -= text.length;
    return ['Warning', `299 - "${headerText(text)}"`];
  });
}

/** What may stand between quotes in a header. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').replace(/["\\]/g, (char) => `\\${char}`);
}

function retryHeaders({ code, details }: Status): HeaderList {
  if (details?.retryAfterSeconds) return ['Retry-After', String(details.retryAfterSeconds)];
  return code === 429 || code === 503 ? ['Retry-After', '1'] : NO_HEADERS;
}
