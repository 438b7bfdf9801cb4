import type { Kind } from '../../../kinds/kind.ts';
import { Cache } from './cache.ts';
import type { Entry } from './entry/entry.ts';
import { type KeyParts, parseKey, tableName } from './keys.ts';
import type { Table } from './table.ts';

/**
 * The content of a cache with drafts that are not committed yet, for admission of several writes that belong together: each
 * sees those before it. It does not follow the store; conflicts show at the commit.
 */
export class DraftedCache extends Cache {
  readonly #copies = new Map<string, Table>();

  constructor(private readonly base: Cache) {
    super(base.options);
    this.revision = base.revision;
    this.floor = base.revision;
  }

  override table(kind: Pick<Kind, 'group' | 'plural'>): Table {
    return this.tableNamed(tableName(kind));
  }

  /** Returns a table, which is copied on first use. */
  override tableNamed(name: string): Table {
    let copy = this.#copies.get(name);
    if (!copy) {
      copy = this.base.tableNamed(name).copy();
      this.#copies.set(name, copy);
    }
    return copy;
  }

  override entry(key: string): Entry | undefined {
    const parts = parseKey(key);
    return parts && this.tableNamed(parts.table).get(parts.namespace, parts.name);
  }

  override fresh(): undefined {
    return undefined;
  }

  override reached(): undefined {
    return undefined;
  }

  /** Shows an entry in place of what has its key. */
  put(entry: Entry): void {
    this.tableNamed(partsOf(entry.at.key).table).put(entry);
  }

  /** Shows no entry at the key. */
  remove(key: string): void {
    const { table, namespace, name } = partsOf(key);
    this.tableNamed(table).remove(namespace, name);
  }
}

function partsOf(key: string): KeyParts {
  const parts = parseKey(key);
  if (!parts) throw new Error(`${key} is not the key of an object`);
  return parts;
}
