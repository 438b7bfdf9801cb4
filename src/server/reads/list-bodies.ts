/**
 * Lists that were requested recently, encoded. The items of a list change only when its table does, so that the same
 * request gets the same bytes, also compressed. A few lists are kept, up to a limit of memory.
 */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { textBytes } from '../../base/bounded-map.ts';
import { allocateSharable, isMovable, joinSharable, makeMovable } from '../../base/shared-buffer.ts';
import { headOf, writeSpliced } from '../cache/encoding.ts';
import type { Table } from '../cache/table.ts';
import type { View } from '../cache/view.ts';
import type { Registry, Resource } from '../registry.ts';

/** Of all lists together; a list of more than half of it is not kept. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_LISTS = 64;
const REFERENCE_BYTES = 8;
const compress = promisify(gzip);

/** Which list: a resource, the table that its objects are in, and what tells its lists apart (namespace, selectors). */
export interface ListKey {
  readonly resource: Resource;
  readonly table: Table;
  readonly text: string;
}

interface ListContent {
  readonly head: string;
  readonly views: readonly View[];
}

interface Kept {
  readonly name: string;
  readonly table: Table;
  /** Of the table. */
  readonly generation: number;
  readonly resource: Resource;
  readonly views: readonly View[];
  head: string;
  json: Buffer | undefined;
  gzip: Promise<Buffer> | undefined;
}

export class ListBodies {
  /** By group, version, plural and text; the least recently made first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(registry: Registry) {
    registry.onChange(() => this.#dropUnserved(registry));
  }

  /** Whether the objects of a list are known. */
  has(key: ListKey): boolean {
    return this.#find(key) !== undefined;
  }

  /** The objects of a list, found again or made anew. */
  views(key: ListKey, make: () => readonly View[]): readonly View[] {
    return this.#lookUp(key, make).views;
  }

  json(key: ListKey, { head, views }: ListContent): Buffer {
    const kept = this.#lookUp(key, () => views);
    if (kept.json && kept.head === head) return kept.json;
    const json = listJson(head, views);
    if (json.length * 4 > MAX_BYTES || kept.views !== views || this.#kept.get(kept.name) !== kept) return json;
    // Every response would be a copy of what is kept.
    if (isMovable(json)) return json;
    this.#bytes -= bytesOf(kept);
    kept.json = json;
    kept.head = head;
    kept.gzip = undefined;
    this.#bytes += bytesOf(kept);
    this.#shrink(kept);
    return json;
  }

  gzip(key: ListKey, content: ListContent): Promise<Buffer> {
    const json = this.json(key, content);
    const kept = this.#kept.get(nameOf(key));
    if (!kept || kept.json !== json) return squeeze(json);
    kept.gzip ??= squeeze(json);
    return kept.gzip;
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
    const kept: Kept = { name, table, generation, resource, views, head: '', json: undefined, gzip: undefined };
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

  /** A list of a table that has changed is of no use, and keeps old versions of its objects in memory. */
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

/** Of the key, the references to the objects, and the encoded list: once more for the compressed one, which is smaller. */
function bytesOf({ name, views, json }: Kept): number {
  return textBytes(name) + views.length * REFERENCE_BYTES + (json?.length ?? 0) * 2;
}

function nameOf({ resource, text }: ListKey): string {
  return `${resource.version.apiVersion}\n${resource.kind.plural}\n${text}`;
}

async function squeeze(json: Buffer): Promise<Buffer> {
  return joinSharable([await compress(json, { level: constants.Z_BEST_SPEED })]);
}

/**
 * `HEAD{…},{…}]}`: each item is its object's own bytes but for kind and apiVersion. A large list is in shared memory; where
 * there is too much of that, sending the list takes it away from this thread.
 */
export function listJson(head: string, views: readonly View[]): Buffer {
  const sources = views.map((view) => view.jsonSource());
  let length = Buffer.byteLength(head) + 2;
  const skipped = views.map(({ kind, version }) => headOf(kind, version).item);
  sources.forEach((source, index) => {
    length += source.length - skipped[index]! + 2;
  });
  // The first item has no comma before it.
  const out = allocateSharable(views.length === 0 ? length : length - 1);
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
