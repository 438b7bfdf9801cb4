/**
 * Recently requested lists, encoded. The items of a list change only when its table does, so that the same request gets
 * the same bytes, also compressed. A few lists are kept, up to a memory limit: those that were requested twice, because
 * memory shared by threads is scarce, and a list that changes constantly would use it up.
 */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { ListBody, ListBodyCache } from '../../../api/reply.ts';
import {
  allocateForSending,
  allocateSharable,
  isMovable,
  joinSharable,
  makeMovable,
} from '../../../base/bytes/shared-buffer.ts';
import { textBytes } from '../../../base/collections/bounded-map.ts';
import { headOf, unspliced, writeSpliced } from '../cache/entry/encoding.ts';
import type { View } from '../cache/entry/view.ts';
import type { Table } from '../cache/table.ts';
import type { Registry, Resource } from '../registry/registry.ts';

/** Limit for all lists together; a list larger than half of it is not kept. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_LISTS = 64;
const REFERENCE_BYTES = 8;

/** Identifies a list: a resource, the table of its objects, and its distinguishing parameters. */
export interface ListKey {
  readonly resource: Resource;
  readonly table: Table;
  readonly text: string;
}

interface ListContent {
  readonly head: string;
  readonly views: readonly View[];
  /** Objects that were encoded in advance. */
  readonly encoded?: ReadonlyMap<View, Buffer>;
}

interface Kept {
  readonly name: string;
  readonly table: Table;
  readonly generation: number;
  readonly resource: Resource;
  readonly views: readonly View[];
  /** Encodings in which the list was requested before. */
  readonly requested: Set<ListEncoding>;
  readonly bodies: Partial<Record<ListEncoding, KeptBody>>;
}

type Allocate = (length: number) => Buffer;

type ListEncoding = 'json' | 'protobuf';

interface KeptBody {
  readonly head: string;
  readonly bytes: Buffer;
  gzip: Promise<Buffer> | undefined;
}

export class ListBodies {
  /** Lists by group, version, plural and text; the least recently created first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(registry: Registry) {
    registry.onChange(() => this.#dropUnserved(registry));
  }

  /** Reports whether the objects of a list are cached. */
  has(key: ListKey): boolean {
    return this.#find(key) !== undefined;
  }

  /** Returns the objects of a list, from the cache or newly created. */
  views(key: ListKey, make: () => readonly View[]): readonly View[] {
    return this.#lookUp(key, make).views;
  }

  hasJson(key: ListKey, content: ListContent): boolean {
    return this.#body(key, 'json', content) !== undefined;
  }

  json(key: ListKey, content: ListContent): Buffer {
    const known = this.#body(key, 'json', content);
    if (known) return known.bytes;
    const json = listJson(content, this.#allocator(key, 'json'));
    this.#keep(key, 'json', content, json);
    return json;
  }

  gzip(key: ListKey, content: ListContent): Promise<Buffer> {
    const json = this.json(key, content);
    return this.#gzip(key, 'json', json);
  }

  protobuf(key: ListKey, content: ListContent): ListBodyCache {
    const body = (bytes: Buffer): ListBody => ({ bytes, gzip: () => this.#gzip(key, 'protobuf', bytes) });
    return {
      find: () => {
        const known = this.#body(key, 'protobuf', content);
        return known && body(known.bytes);
      },
      allocate: (length) => this.#allocator(key, 'protobuf')(length),
      keep: (bytes) => {
        this.#keep(key, 'protobuf', content, bytes);
        return body(bytes);
      },
    };
  }

  /** Returns an encoded list if it is still current. */
  #body(key: ListKey, encoding: ListEncoding, { head, views }: ListContent): KeptBody | undefined {
    const body = this.#lookUp(key, () => views).bodies[encoding];
    return body?.head === head ? body : undefined;
  }

  /** Returns the allocator for a list: the memory of the first response is transferred, that of later ones kept. */
  #allocator(key: ListKey, encoding: ListEncoding): Allocate {
    const requested = this.#find(key)?.requested;
    if (requested?.has(encoding)) return allocateSharable;
    requested?.add(encoding);
    return allocateForSending;
  }

  #keep(key: ListKey, encoding: ListEncoding, { head, views }: ListContent, bytes: Buffer): void {
    const kept = this.#find(key);
    if (!kept || bytes.length * 4 > MAX_BYTES || kept.views !== views) return;
    // Every response would be a copy of the cached bytes.
    if (isMovable(bytes)) return;
    this.#bytes -= bytesOf(kept);
    kept.bodies[encoding] = { head, bytes, gzip: undefined };
    this.#bytes += bytesOf(kept);
    this.#shrink(kept);
  }

  #gzip(key: ListKey, encoding: ListEncoding, bytes: Buffer): Promise<Buffer> {
    const body = this.#kept.get(nameOf(key))?.bodies[encoding];
    if (body?.bytes !== bytes) return squeeze(bytes);
    body.gzip ??= squeeze(bytes);
    return body.gzip;
  }

  #find(key: ListKey): Kept | undefined {
    const known = this.#kept.get(nameOf(key));
    return known?.generation === key.table.generation && known.resource === key.resource ? known : undefined;
  }

  #lookUp(key: ListKey, make: () => readonly View[]): Kept {
    const known = this.#find(key);
    if (known) return known;
    this.#dropOutdated();
    const { resource, table } = key;
    const { generation } = table;
    const name = nameOf(key);
    const views = make();
    const kept: Kept = { name, table, generation, resource, views, requested: new Set(), bodies: {} };
    if (bytesOf(kept) * 2 > MAX_BYTES) return kept;
    this.#kept.set(name, kept);
    this.#bytes += bytesOf(kept);
    if (this.#kept.size > MAX_LISTS) this.#dropOldest(kept);
    this.#shrink(kept);
    return kept;
  }

  #dropUnserved(registry: Registry): void {
    for (const [name, kept] of [...this.#kept]) if (!registry.serves(kept.resource)) this.#drop(name, kept);
  }

  /** Drops lists of changed tables, which are useless and keep old versions of objects in memory. */
  #dropOutdated(): void {
    for (const [name, kept] of this.#kept) if (kept.generation !== kept.table.generation) this.#drop(name, kept);
  }

  #shrink(keep: Kept): void {
    while (this.#bytes > MAX_BYTES && this.#kept.size > 1) this.#dropOldest(keep);
  }

  #dropOldest(keep: Kept): void {
    for (const [name, kept] of this.#kept) {
      if (kept === keep) continue;
      this.#drop(name, kept);
      return;
    }
  }

  #drop(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#bytes -= bytesOf(kept);
  }
}

/** Estimates the memory: the key, references to objects, and the encoded lists twice, for the compressed ones. */
function bytesOf({ name, views, bodies: { json, protobuf } }: Kept): number {
  const encoded = (json?.bytes.length ?? 0) + (protobuf?.bytes.length ?? 0);
  return textBytes(name) + views.length * REFERENCE_BYTES + encoded * 2;
}

function nameOf({ resource, text }: ListKey): string {
  return `${resource.version.apiVersion}\n${resource.kind.plural}\n${text}`;
}

async function squeeze(json: Buffer): Promise<Buffer> {
  return joinSharable([await promisify(gzip)(json, { level: constants.Z_BEST_SPEED })]);
}

/**
 * Encodes a list as `HEAD{…},{…}]}`: each item is its object's own bytes, without kind and apiVersion unless the kind
 * has typed items. Sending a large list transfers its memory to another thread, unless it was allocated in shared
 * memory.
 */
export function listJson({ head, views, encoded }: ListContent, allocate: Allocate = allocateForSending): Buffer {
  const sources = views.map((view) => {
    const known = encoded?.get(view);
    return known ? unspliced(known) : view.jsonSource();
  });
  let length = Buffer.byteLength(head) + 2;
  const skipped = views.map(({ kind, version }) => headOf(kind, version).item);
  sources.forEach((source, index) => {
    length += source.length - skipped[index]! + 2;
  });
  // The first item has no comma before it.
  const out = allocate(views.length === 0 ? length : length - 1);
  let at = out.write(head, 0);
  sources.forEach((source, index) => {
    if (index > 0) out[at++] = COMMA;
    out[at++] = OPENING_BRACE;
    at = writeSpliced(source, out, at, skipped[index]);
  });
  out.write(']}', at);
  return makeMovable(out);
}

const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
