/**
 * What the server publishes of its schemas: OpenAPI 2 in JSON and protobuf, OpenAPI 3 by group and version, and Swagger
 * 1.2 for the oldest clients. All of it follows from the registry; nothing here is on the way of a request for an object.
 * A document is built when somebody first asks for it, and kept until the kinds change.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Registry } from '../registry.ts';
import { Definitions } from './definitions.ts';
import { chooseType, JSON_TYPE, PROTOBUF_TYPE } from './media.ts';
import { rootOf } from './operations.ts';
import { encodeDocument } from './proto.ts';
import type { Json } from './schemas.ts';
import { swaggerDeclaration, swaggerListing } from './swagger.ts';
import { documentV2 } from './v2.ts';
import { documentV3 } from './v3.ts';

export interface PublishedDocument {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
  /** The same at the lowest gzip level, compressed once for all who ask. */
  gzip(): Promise<Buffer>;
}

const V2 = '/openapi/v2';
const V3 = '/openapi/v3';
const SWAGGER = '/swaggerapi';

/** Where clients looked for the same document before it had its place. */
const OLD_V2: ReadonlyMap<string, string> = new Map([
  ['/swagger.json', JSON_TYPE],
  ['/swagger-2.0.0.json', JSON_TYPE],
  ['/swagger-2.0.0.pb-v1', PROTOBUF_TYPE],
]);

const compress = promisify(gzip);

export class OpenApi {
  readonly #registry: Registry;
  readonly #documents = new Map<string, Promise<PublishedDocument | undefined>>();
  #generation = -1;
  #definitions: Definitions | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** The document at a path in a form that the client takes; undefined where there is none. Fails with 406. */
  async document(path: string, accept: string | undefined): Promise<PublishedDocument | undefined> {
    this.#forgetOld();
    const old = OLD_V2.get(path);
    if (old) return this.#kept(V2, old);
    if (path === V2) return this.#kept(path, chooseType(accept, [JSON_TYPE, PROTOBUF_TYPE]));
    if (!this.#has(path)) return undefined;
    return this.#kept(path, chooseType(accept, [JSON_TYPE]));
  }

  #has(path: string): boolean {
    return path === V3 || path === SWAGGER || this.#versionAt(path) !== undefined;
  }

  #forgetOld(): void {
    const { generation } = this.#registry;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#documents.clear();
    this.#definitions = undefined;
  }

  #kept(path: string, type: string): Promise<PublishedDocument | undefined> {
    const key = `${type} ${path}`;
    let document = this.#documents.get(key);
    if (!document) {
      document = this.#build(path, type);
      this.#documents.set(key, document);
      document.catch(() => this.#documents.delete(key));
    }
    return document;
  }

  async #build(path: string, type: string): Promise<PublishedDocument | undefined> {
    if (path === V3) return written(await this.#indexV3());
    const registry = this.#registry;
    this.#definitions ??= new Definitions(registry);
    if (path === V2) {
      const document = documentV2(registry, this.#definitions);
      return type === JSON_TYPE ? written(document) : published(encodeDocument(document), type);
    }
    if (path === SWAGGER) return written(swaggerListing(registry));
    const apiVersion = this.#versionAt(path);
    if (apiVersion === undefined) return undefined;
    const write = path.startsWith(V3) ? documentV3 : swaggerDeclaration;
    return written(write(registry, this.#definitions, apiVersion));
  }

  /** Clients keep a document for as long as its address stays: the address has its hash. */
  async #indexV3(): Promise<Json> {
    const paths: Json = {};
    for (const apiVersion of [...this.#registry.apiVersions].sort()) {
      const root = rootOf(apiVersion);
      const document = await this.#kept(V3 + root, JSON_TYPE);
      if (!document) continue;
      paths[root.slice(1)] = { serverRelativeURL: `${V3}${root}?hash=${document.etag}` };
      // Others have their turn between one document and the next.
      await setImmediate();
    }
    return { paths };
  }

  /** The group and version whose document is at a path. */
  #versionAt(path: string): string | undefined {
    for (const prefix of [V3, SWAGGER]) {
      if (!path.startsWith(`${prefix}/`)) continue;
      const root = path.slice(prefix.length);
      for (const apiVersion of this.#registry.apiVersions) if (rootOf(apiVersion) === root) return apiVersion;
    }
    return undefined;
  }
}

function written(document: Json): PublishedDocument {
  return published(Buffer.from(JSON.stringify(document)), JSON_TYPE);
}

function published(body: Buffer, contentType: string): PublishedDocument {
  const etag = createHash('sha256').update(body).digest('hex').toUpperCase();
  let smaller: Promise<Buffer> | undefined;
  return {
    body,
    contentType,
    etag,
    gzip() {
      smaller ??= compress(body, { level: 1 });
      return smaller;
    },
  };
}
