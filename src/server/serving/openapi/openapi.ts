/**
 * The published schemas: OpenAPI 2 in JSON and protobuf, OpenAPI 3 by group and version, and Swagger 1.2 for the oldest
 * clients. They are assembled from the parts that the backends publish; nothing here is involved in requests for
 * objects. A document is built when a client first requests it, and cached until the backends change.
 */
import { setImmediate } from 'node:timers/promises';
import { ApiError } from '../../../api/errors.ts';
import { Registry } from '../../objects/registry/registry.ts';
import type { Backend, BackendSchemas, Backends, Json } from '../backend.ts';
import { Definitions } from './definitions.ts';
import { encodeDocument } from './dialects/proto.ts';
import { swaggerListing } from './dialects/swagger.ts';
import { DIALECT_V2, documentV2, partV2 } from './dialects/v2.ts';
import { groupEndpoints } from './discovery.ts';
import { rootOf } from './operations.ts';
import { type PublishedDocument, publishedDocument } from './published-document.ts';
import { DefinitionRenderer } from './schemas.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Aliases of the media types. The first is malformed, and is the one that most clients send. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', PROTOBUF_TYPE],
  ['application/com.github.googleapis.gnostic.openapiv2+protobuf', PROTOBUF_TYPE],
]);

/** Returns the offered type that the client prefers. Throws NotAcceptable (406) when it accepts none. */
function chooseType(accept: string | undefined, offered: readonly [string, ...string[]]): string {
  if (!accept) return offered[0];
  const wanted = accept
    .split(',')
    .map(parseClause)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { type } of wanted) {
    const found = offered.find((offer) => matches(type, offer));
    if (found) return found;
  }
  throw new ApiError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
}

function parseClause(clause: string): { type: string; quality: number } {
  const [type = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type: ALIASES.get(type) ?? type, quality: quality ? Number(quality.slice(2)) : 1 };
}

function matches(wanted: string, offer: string): boolean {
  return wanted === '*/*' || wanted === offer || (wanted.endsWith('/*') && offer.startsWith(wanted.slice(0, -1)));
}

const V2 = '/openapi/v2';
const V3 = '/openapi/v3';
const SWAGGER = '/swaggerapi';

/** Former paths of the OpenAPI 2 document. */
const OLD_V2: ReadonlyMap<string, string> = new Map([
  ['/swagger.json', JSON_TYPE],
  ['/swagger-2.0.0.json', JSON_TYPE],
  ['/swagger-2.0.0.pb-v1', PROTOBUF_TYPE],
]);

export class OpenApi {
  #documents = new Map<string, Promise<PublishedDocument | undefined>>();
  #generation = -1;

  constructor(private readonly backends: Backends) {}

  /** Returns the document at a path in a form that the client accepts; undefined if none. Rejects with 406. */
  async document(path: string, accept: string | undefined): Promise<PublishedDocument | undefined> {
    const old = OLD_V2.get(path);
    if (old) return this.#kept(V2, old);
    if (path === V2) return this.#kept(path, chooseType(accept, [JSON_TYPE, PROTOBUF_TYPE]));
    if (!this.#has(path)) return undefined;
    return this.#kept(path, chooseType(accept, [JSON_TYPE]));
  }

  #has(path: string): boolean {
    return path === V3 || path === SWAGGER || this.#backendAt(path) !== undefined;
  }

  #kept(path: string, type: string): Promise<PublishedDocument | undefined> {
    const { generation } = this.backends;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#documents = new Map();
    }
    const documents = this.#documents;
    const key = `${type} ${path}`;
    let document = documents.get(key);
    if (!document) {
      document = this.#build(path, type);
      documents.set(key, document);
      document.catch(() => documents.delete(key));
    }
    return document;
  }

  async #build(path: string, type: string): Promise<PublishedDocument | undefined> {
    if (path === V3) return written(await this.#indexV3());
    if (path === SWAGGER) return written(await this.#swaggerIndex());
    if (path === V2) {
      const document = await this.#documentV2();
      return type === JSON_TYPE ? written(document) : publishedDocument(encodeDocument(document), type);
    }
    const schemas = await this.#backendAt(path)?.schemas();
    const document = path.startsWith(V3) ? await schemas?.v3() : schemas?.swagger?.();
    return document && written(document);
  }

  async #documentV2(): Promise<Json> {
    const parts = [];
    for (const { schemas } of await this.#published()) {
      parts.push(await schemas.v2());
      // Lets other requests run between parts.
      await setImmediate();
    }
    const groups = this.backends.groups();
    const endpoints = groupEndpoints(this.backends.hasGroup('') ? ['', ...groups] : groups);
    const definitions = new Definitions(new Registry());
    return documentV2([...parts, partV2(endpoints, definitions, new DefinitionRenderer(definitions, DIALECT_V2))]);
  }

  /** Returns the index of OpenAPI 3 documents. Clients cache a document by its URL, which contains its hash. */
  async #indexV3(): Promise<Json> {
    const paths: Json = {};
    const apiVersions = this.backends.all().map(({ apiVersion }) => apiVersion);
    for (const root of apiVersions.sort().map(rootOf)) {
      const document = await this.#kept(V3 + root, JSON_TYPE);
      if (!document) continue;
      paths[root.slice(1)] = { serverRelativeURL: `${V3}${root}?hash=${document.etag}` };
      // Lets other requests run between documents.
      await setImmediate();
    }
    return { paths };
  }

  async #swaggerIndex(): Promise<Json> {
    const declared = (await this.#published()).filter(({ schemas }) => schemas.swagger);
    return swaggerListing(declared.map(({ backend }) => backend.apiVersion));
  }

  #published(): Promise<{ backend: Backend; schemas: BackendSchemas }[]> {
    return Promise.all(this.backends.all().map(async (backend) => ({ backend, schemas: await backend.schemas() })));
  }

  #backendAt(path: string): Backend | undefined {
    for (const prefix of [V3, SWAGGER]) {
      if (!path.startsWith(`${prefix}/`)) continue;
      const root = path.slice(prefix.length);
      return this.backends.all().find(({ apiVersion }) => rootOf(apiVersion) === root);
    }
    return undefined;
  }
}

function written(document: Json): PublishedDocument {
  return publishedDocument(Buffer.from(JSON.stringify(document)), JSON_TYPE);
}
