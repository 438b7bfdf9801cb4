import { methodNotAllowed } from '../../../../api/errors.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import type { Exchange } from '../../exchange.ts';
import type { OpenApi } from '../../openapi/openapi.ts';
import { sendPublished } from './published.ts';

/** Paths of schemas. */
const SCHEMA_PATH = /^\/(?:openapi|swaggerapi|swagger)(?:[/.-]|$)/;

/**
 * Serves the published schemas. The code that builds them is loaded with the first request, which many servers never
 * get.
 */
export class SchemaDocuments {
  readonly #backends: BackendRegistry;
  #openApi: Promise<OpenApi> | undefined;

  constructor(backends: BackendRegistry) {
    this.#backends = backends;
  }

  /** Responds if the path is that of a schema, and returns whether it was. */
  async serve(exchange: Exchange, path: string): Promise<boolean> {
    if (!SCHEMA_PATH.test(path)) return false;
    this.#openApi ??= import('../../openapi/openapi.ts').then(({ OpenApi }) => new OpenApi(this.#backends));
    const document = await (await this.#openApi).document(path, exchange.headers.accept);
    if (!document) return false;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
    await sendPublished(exchange, document);
    return true;
  }
}
