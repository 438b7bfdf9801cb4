import { methodNotAllowed } from '../../base/errors.ts';
import type { OpenApi, PublishedDocument } from '../openapi/openapi.ts';
import type { Registry } from '../registry.ts';
import type { Exchange } from './exchange.ts';
import { acceptsGzip, LARGE } from './respond.ts';

/** Where the paths of schemas begin. */
const ROOT = /^\/(?:openapi|swaggerapi|swagger)(?:[/.-]|$)/;

const NOTHING = Buffer.alloc(0);

/** Serves the schemas. What writes them is loaded for the first who asks: many a server is never asked. */
export class SchemaDocuments {
  readonly #registry: Registry;
  #openApi: Promise<OpenApi> | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Answers where the path is that of a schema; says whether it was. */
  async serve(exchange: Exchange, path: string): Promise<boolean> {
    if (!ROOT.test(path)) return false;
    this.#openApi ??= import('../openapi/openapi.ts').then(({ OpenApi }) => new OpenApi(this.#registry));
    const document = await (await this.#openApi).document(path, exchange.headers.accept);
    if (!document) return false;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
    await send(exchange, document);
    return true;
  }
}

async function send(exchange: Exchange, document: PublishedDocument): Promise<void> {
  const { body, contentType } = document;
  const etag = `"${document.etag}"`;
  const extra = ['ETag', etag, 'Vary', 'Accept, Accept-Encoding'];
  if (isKnown(exchange.headers['if-none-match'], etag)) return exchange.reply(304, contentType, NOTHING, extra);
  if (body.length < LARGE || !acceptsGzip(exchange)) return exchange.reply(200, contentType, body, extra);
  exchange.reply(200, contentType, await document.gzip(), ['Content-Encoding', 'gzip', ...extra]);
}

/** Whether the client has the document already. Proxies that compress may have marked its tag as weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
