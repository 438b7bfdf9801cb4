import { methodNotAllowed, noSuchPath } from '../../../../api/errors.ts';
import type { JsonDocument } from '../../../../api/json-document.ts';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import { aggregatedForms } from '../../discovery/aggregated.ts';
import type { Discovery, VersionInfo } from '../../discovery/discovery.ts';
import type { Exchange } from '../../exchange.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { PublishedDocument } from '../../openapi/published-document.ts';
import { negotiate } from '../respond/accept.ts';
import { sendDocument } from '../respond/respond.ts';
import { splitPath } from '../route/route.ts';
import type { Health } from './health.ts';
import { published, SchemaDocuments, sendPublished } from './published.ts';

export interface DocumentsOptions {
  /** From which paths, discovery and schemas are derived. */
  readonly backends: BackendRegistry;
  readonly discovery: Discovery;
  readonly metrics: Metrics;
  readonly version: VersionInfo;
  readonly documents: readonly JsonDocument[];
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const AGGREGATED_OFFERS = { forms: aggregatedForms, protobuf: false };
const PLAIN_OFFERS = { forms: [] as typeof aggregatedForms, protobuf: false };
const AGGREGATED = ['/api', '/apis'];

/** Serves everything but objects: discovery, the version, the list of paths, schemas, metrics. */
export class Documents {
  readonly #schemas: SchemaDocuments;
  /** Encoded discovery documents by tree: discovery returns the same tree until the backends change. */
  readonly #written = new WeakMap<object, PublishedDocument>();

  constructor(
    private readonly options: DocumentsOptions,
    private readonly health: Pick<Health, 'metrics'>,
  ) {
    this.#schemas = new SchemaDocuments(options.backends);
  }

  /** Responds if there is a document at the path, and returns whether there was. `pretty`: indented. */
  async serve(exchange: Exchange, path: string, pretty: boolean): Promise<boolean> {
    const parts = splitPath(path);
    const plain = parts.length === 2 && parts[1] === '' ? '' : parts.join('/');
    const { discovery, metrics, version } = this.options;
    if (plain === '/metrics' || plain === '/metrics/slis') {
      rejectWrites(exchange);
      const text = plain === '/metrics' ? metrics.text(version) : await this.health.metrics();
      exchange.reply(200, METRICS_TYPE, Buffer.from(text));
      return true;
    }
    const document = discovery.document(plain);
    if (document) {
      rejectWrites(exchange);
      await this.#sendDiscovery(exchange, { path: plain, document, pretty });
      return true;
    }
    if (await this.#schemas.serve(exchange, plain)) return true;
    const other = this.options.documents.find((each) => each.path === plain);
    if (other) {
      rejectWrites(exchange);
      exchange.reply(200, other.type, Buffer.from(JSON.stringify(other.content)));
      return true;
    }
    const [, root, group] = parts;
    if (root === 'api' || (root === 'apis' && group && this.options.backends.hasGroup(group))) throw noSuchPath();
    return false;
  }

  /** Encodes aggregated discovery ahead of time, so that the first client does not wait for it. */
  prepare(): void {
    const [newest] = aggregatedForms;
    for (const path of AGGREGATED) {
      // Builds the other form of the same path, whose existence must be known.
      this.options.discovery.document(path);
      const tree = newest && this.options.discovery.aggregated(path, newest.version);
      if (tree) this.#publish(tree, newest);
    }
  }

  async #sendDiscovery(exchange: Exchange, { path, document, pretty }: Found): Promise<void> {
    const offers = AGGREGATED.includes(path) ? AGGREGATED_OFFERS : PLAIN_OFFERS;
    const { form, ...representation } = negotiate(exchange.headers.accept, offers);
    const tree = (form && this.options.discovery.aggregated(path, form.version)) ?? document;
    if (representation.format === 'yaml' || representation.pretty || pretty) {
      const { format } = representation;
      return sendDocument(exchange, tree, { format, pretty: representation.pretty || pretty, warnings: undefined });
    }
    return sendPublished(exchange, this.#publish(tree, form));
  }

  #publish(tree: object, form: (typeof aggregatedForms)[number] | undefined): PublishedDocument {
    return getOrInsert(this.#written, tree, () => {
      const type = form ? `application/json;g=${form.group};v=${form.version};as=${form.kind}` : 'application/json';
      return published(tree, type);
    });
  }
}

interface Found {
  readonly path: string;
  readonly document: object;
  readonly pretty: boolean;
}

function rejectWrites({ method }: Exchange): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
}
