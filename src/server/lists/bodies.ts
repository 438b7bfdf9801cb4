/**
 * Encoded lists that were asked for lately. The items of a list change only when its table does, so who asks again gets
 * the same bytes, also compressed; a few lists are kept, up to a limit of memory.
 */

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Table } from '../cache/table.ts';
import type { View } from '../cache/view.ts';
import { memory } from '../shared-memory.ts';

const LIMIT = 16 * 1024 * 1024;
const compress = promisify(gzip);

interface Kept {
  readonly generation: number;
  readonly views: readonly View[];
  head: string;
  json: Buffer | undefined;
  gzip: Promise<Buffer> | undefined;
}

export class ListBodies {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** The objects of a list, found again or made anew. `text` tells lists of one table apart. */
  views(table: Table, text: string, make: () => readonly View[]): readonly View[] {
    return this.#lookUp(table, text, make).views;
  }

  json(table: Table, text: string, list: { head: string; views: readonly View[] }): Buffer {
    const kept = this.#lookUp(table, text, () => list.views);
    if (kept.json && kept.head === list.head) return kept.json;
    const json = listJson(list.head, list.views);
    if (json.length * 2 > LIMIT || kept.views !== list.views) return json;
    this.#bytes += json.length - (kept.json?.length ?? 0);
    kept.json = json;
    kept.head = list.head;
    kept.gzip = undefined;
    this.#shrink(kept);
    return json;
  }

  gzip(table: Table, text: string, list: { head: string; views: readonly View[] }): Promise<Buffer> {
    const json = this.json(table, text, list);
    const kept = this.#kept.get(`${table.name}\n${text}`);
    if (!kept || kept.json !== json) return squeeze(json);
    kept.gzip ??= squeeze(json);
    return kept.gzip;
  }

  #lookUp(table: Table, text: string, make: () => readonly View[]): Kept {
    const key = `${table.name}\n${text}`;
    const known = this.#kept.get(key);
    if (known && known.generation === table.generation) return known;
    if (known) this.#drop(key, known);
    const kept: Kept = { generation: table.generation, views: make(), head: '', json: undefined, gzip: undefined };
    this.#kept.set(key, kept);
    if (this.#kept.size > 64) this.#dropOldest(kept);
    return kept;
  }

  #shrink(keep: Kept): void {
    while (this.#bytes > LIMIT && this.#kept.size > 1) this.#dropOldest(keep);
  }

  #dropOldest(keep: Kept): void {
    for (const [key, kept] of this.#kept) {
      if (kept === keep) continue;
      this.#drop(key, kept);
      return;
    }
  }

  #drop(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= kept.json?.length ?? 0;
  }
}

function squeeze(json: Buffer): Promise<Buffer> {
  return compress(json, { level: constants.Z_BEST_SPEED });
}

/** `HEAD{…},{…}]}`: each item is its object's own bytes but for kind and apiVersion. */
export function listJson(head: string, views: readonly View[]): Buffer {
  let length = Buffer.byteLength(head) + 2;
  for (const view of views) length += view.itemJson().length + 1;
  const out = memory(length + (views.length === 0 ? 0 : views.length - 1));
  let at = out.write(head, 0);
  let first = true;
  for (const view of views) {
    if (!first) out[at++] = COMMA;
    first = false;
    out[at++] = OPENING_BRACE;
    at += view.itemJson().copy(out, at);
  }
  out.write(']}', at);
  return out;
}

const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
