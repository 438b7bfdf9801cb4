/**
 * Records in the store which definition of a kind wrote its objects. Objects written by the current definition are
 * served as stored; others are decoded first, which takes most of the time of the first list after a start.
 *
 * A mark is a row beside the objects, one for each table. It holds a fingerprint of the definition, and its own
 * revision is the one from which on all objects of the table were written with that definition: the mark is committed
 * together with the first object. The two therefore never disagree, even after a crash.
 *
 * Only for a store with a single writer: several servers would not see each other's marks in time.
 */

import { createHash } from 'node:crypto';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { Fields, Schema } from '../../../../schema/schema.ts';
import type { Change, Store, Write } from '../../../../store/store.ts';
import { tableName } from '../keys.ts';

/** Options of a schema that do not affect stored data. */
const NOT_STORED = new Set(['description', 'rules', 'required', 'immutable', 'maxItems']);

/**
 * Identifies how a kind's definition reads stored bytes: its versions with the stored one first, and their fields with
 * types and defaults. `build` identifies the program, since functions (computed defaults, conversions) are compared
 * only by their source text, without the functions that they call.
 */
export function fingerprintOf(kind: Kind, build: string): string {
  const shapes = new ShapeHasher();
  const text = JSON.stringify([
    build,
    kind.kind,
    kind.versions.map(({ apiVersion, schema, toHub, fromHub }) => [
      apiVersion,
      shapes.fields(schema.fields),
      String(toHub),
      String(fromHub),
    ]),
    shapes.recursive(),
  ]);
  return hash(text);
}

/** Hashes of shapes, so that a shape shared by many kinds is hashed once. */
const known = new WeakMap<Fields, string>();

class ShapeHasher {
  /** Hashes of shapes that contain themselves, by name. */
  readonly #recursive = new Map<string, string>();
  /** Number of references to such shapes so far: a hash that depends on them is not shared between kinds. */
  #references = 0;

  fields(fields: Fields): string {
    const shared = known.get(fields);
    if (shared !== undefined) return shared;
    const before = this.#references;
    const found = hash(JSON.stringify(Object.entries(fields).map(([name, schema]) => [name, this.#schema(schema)])));
    if (this.#references === before) known.set(fields, found);
    return found;
  }

  recursive(): readonly (readonly [name: string, hash: string])[] {
    return [...this.#recursive];
  }

  #schema(schema: Schema): unknown {
    return Object.entries(schema).map(([option, value]) => {
      if (NOT_STORED.has(option)) return undefined;
      switch (option) {
        case 'fields':
          return this.fields(value as Fields);
        case 'items':
        case 'values':
          return [option, this.#schema(value as Schema)];
        case 'resolve':
          return this.#reference((value as () => Schema)());
        default:
          return [option, typeof value === 'function' ? String(value) : value];
      }
    });
  }

  #reference(schema: Schema): unknown {
    if (schema.type !== 'object') return this.#schema(schema);
    this.#references++;
    const { name, fields } = schema;
    if (!this.#recursive.has(name)) {
      this.#recursive.set(name, '');
      this.#recursive.set(name, this.fields(fields));
    }
    return name;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

const PREFIX = '/quarterdeck/kinds/';

interface Mark {
  readonly fingerprint: string;
  readonly revision: number;
  /** The kind with this fingerprint, once it is known. */
  kind?: Kind;
}

export class DefinitionMarks {
  readonly #build: string;
  /** Marks by name of the table, such as `apps/deployments`. */
  readonly #marks = new Map<string, Mark>();
  readonly #fingerprints = new WeakMap<Kind, string>();

  private constructor(build: string) {
    this.#build = build;
  }

  /** `build` identifies the program: another one may decode the same bytes differently. */
  static async load(store: Store, build: string): Promise<DefinitionMarks> {
    const marks = new DefinitionMarks(build);
    // A damaged mark counts as missing.
    const { rows } = await store.list(PREFIX, { damaged: () => undefined });
    for (const row of rows) marks.#note(row.key, row.value, row.revision);
    return marks;
  }

  /** Reports whether the bytes written at this revision were written with this definition of the kind. */
  isCurrent(kind: Kind, revision: number): boolean {
    const mark = this.#markOf(kind);
    return mark !== undefined && revision >= mark.revision;
  }

  /** Returns the write to commit together with an object of the kind; undefined when the mark exists already. */
  missing(kind: Kind): Write | undefined {
    if (this.#markOf(kind)) return undefined;
    return { key: PREFIX + tableName(kind), value: Buffer.from(this.#fingerprintOf(kind)), evenIfDamaged: true };
  }

  /** Updates the marks with a change of the store; other keys are ignored. */
  changed({ key, value, revision }: Change): void {
    if (key.startsWith(PREFIX) && value) this.#note(key, value, revision);
  }

  #note(key: string, value: Buffer, revision: number): void {
    this.#marks.set(key.slice(PREFIX.length), { fingerprint: value.toString(), revision });
  }

  /** Returns the mark of the kind's table if it is for this definition. */
  #markOf(kind: Kind): Mark | undefined {
    const mark = this.#marks.get(tableName(kind));
    if (!mark || mark.kind === kind) return mark;
    if (mark.fingerprint !== this.#fingerprintOf(kind)) return undefined;
    mark.kind = kind;
    return mark;
  }

  #fingerprintOf(kind: Kind): string {
    return getOrInsert(this.#fingerprints, kind, () => fingerprintOf(kind, this.#build));
  }
}
