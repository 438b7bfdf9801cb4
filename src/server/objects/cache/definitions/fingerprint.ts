import { createHash } from 'node:crypto';
import type { Kind } from '../../../../kinds/kind.ts';
import type { Fields, Schema } from '../../../../schema/schema.ts';

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

/** Hashes the shapes of one kind. */
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
