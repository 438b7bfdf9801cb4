import { methodNotAllowed } from '../../../base/errors.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import type { OpenApi } from '../../openapi/openapi.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { sendPublished } from './published.ts';

/** Where the paths of schemas begin. */
const ROOT = /^\/(?:openapi|swaggerapi|swagger)(?:[/.-]|$)/;

/** Serves the schemas. What writes them is loaded for the first who asks: many a server is never asked. */
export class SchemaDocuments {
  readonly #backends: BackendRegistry;
  #openApi: Promise<OpenApi> | undefined;

  constructor(backends: BackendRegistry) {
    this.#backends = backends;
  }

  /** Answers where the path is that of a schema; says whether it was. */
  async serve(exchange: Exchange, path: string): Promise<boolean> {
    if (!ROOT.test(path)) return false;
    this.#openApi ??= import('../../openapi/openapi.ts').then(({ OpenApi }) => new OpenApi(this.#backends));
    const document = await (await this.#openApi).document(path, exchange.headers.accept);
    if (!document) return false;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
    await sendPublished(exchange, document);
    return true;
  }
}
