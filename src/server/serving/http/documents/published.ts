import { methodNotAllowed } from '../../../../api/errors.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import type { Exchange } from '../../exchange.ts';
import type { OpenApi } from '../../openapi/openapi.ts';
import { type PublishedDocument, publishedDocument } from '../../openapi/published-document.ts';
import { acceptsGzip, MIN_GZIP_BYTES } from '../respond/respond.ts';

const NO_BYTES = Buffer.alloc(0);

/** Encodes a document, with an ETag for caching by clients. */
export function published(tree: object, contentType: string): PublishedDocument {
  return publishedDocument(Buffer.from(JSON.stringify(tree)), contentType);
}

/** Sends a document, or a 304 if the client has it already. */
export async function sendPublished(exchange: Exchange, document: PublishedDocument): Promise<void> {
  const { body, contentType } = document;
  const etag = `"${document.etag}"`;
  const extra = ['ETag', etag, 'Vary', 'Accept, Accept-Encoding'];
  if (isKnown(exchange.headers['if-none-match'], etag)) return exchange.reply(304, contentType, NO_BYTES, extra);
  if (body.length < MIN_GZIP_BYTES || !acceptsGzip(exchange)) return exchange.reply(200, contentType, body, extra);
  exchange.reply(200, contentType, await document.gzip(), ['Content-Encoding', 'gzip', ...extra]);
}

/** Reports whether If-None-Match has the ETag. Compressing proxies may have made it weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

const SCHEMA_PATH = /^\/(?:openapi|swaggerapi|swagger)(?:[/.-]|$)/;

/** Serves the published schemas. The code that builds them is loaded with the first request. */
export class SchemaDocuments {
  #openApi: Promise<OpenApi> | undefined;

  constructor(private readonly backends: BackendRegistry) {}

  /** Responds if the path is that of a schema, and returns whether it was. */
  async serve(exchange: Exchange, path: string): Promise<boolean> {
    if (!SCHEMA_PATH.test(path)) return false;
    this.#openApi ??= import('../../openapi/openapi.ts').then(({ OpenApi }) => new OpenApi(this.backends));
    const document = await (await this.#openApi).document(path, exchange.headers.accept);
    if (!document) return false;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
    await sendPublished(exchange, document);
    return true;
  }
}
