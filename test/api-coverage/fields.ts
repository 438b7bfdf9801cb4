/** Counts the published fields of a kind that ours has. */
import type { Kind, Version } from '../../src/kinds/kind.ts';
import { joinPath } from '../../src/schema/field-error.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { ourWord, type Published, type PublishedDocument, type Reference, wordOf } from '../kinds/published.ts';

/** Fields of one kind in one release, at every depth; a recursive shape counts once. */
export interface FieldCount {
  readonly published: number;
  readonly served: number;
  /** The topmost paths that ours lacks, or has with another type. */
  readonly missing: readonly string[];
}

/** Counts of fields beside each release that has the kind in this version. */
export interface FieldCoverage {
  readonly newer: FieldCount | undefined;
  readonly older: FieldCount | undefined;
  /** Stored version, by which a version is measured that no release has. */
  readonly measuredBy: string | undefined;
}

export function fieldCoverage({ newer, older }: Reference, kind: Kind, version: Version): FieldCoverage {
  const count = (document: PublishedDocument, place: Published | undefined) =>
    place && countFields(version.schema, document, place);
  const [own, old] = [newer.kind(version, kind.kind), older.kind(version, kind.kind)];
  if (own || old) return { newer: count(newer, own), older: count(older, old), measuredBy: undefined };
  const { hub } = kind;
  return { newer: count(newer, newer.kind(hub, kind.kind)), older: undefined, measuredBy: hub.apiVersion };
}

export function countFields(ours: Schema, document: PublishedDocument, place: Published): FieldCount {
  const counter = new Counter(document);
  counter.visit(ours, place, '', []);
  return counter;
}

class Counter implements FieldCount {
  readonly #document: PublishedDocument;
  published = 0;
  served = 0;
  readonly missing: string[] = [];

  constructor(document: PublishedDocument) {
    this.#document = document;
  }

  /** `ours` is undefined inside something that is missing: that is counted, but not named again. */
  visit(ours: Schema | undefined, place: Published, path: string, around: readonly Published[]): void {
    const schema = ours?.type === 'lazy' ? ours.resolve() : ours;
    const shape = this.#document.resolve(place);
    if (around.includes(shape) || wordOf(this.#document, place) === 'any') return;
    const within = [...around, shape];
    if (shape.items) this.visit(schema?.type === 'list' ? schema.items : undefined, shape.items, `${path}[]`, within);
    if (shape.additionalProperties) {
      const values = schema?.type === 'map' ? schema.values : undefined;
      this.visit(values, shape.additionalProperties, `${path}{}`, within);
    }
    for (const [name, property] of Object.entries(shape.properties ?? {})) {
      const field = schema?.type === 'object' ? schema.fields[name] : undefined;
      const known = this.#sameType(field, property) ? field : undefined;
      this.published++;
      if (known) this.served++;
      else if (schema) this.missing.push(joinPath(path, name));
      this.visit(known, property, joinPath(path, name), within);
    }
  }

  #sameType(ours: Schema | undefined, place: Published): boolean {
    if (!ours) return false;
    const word = ourWord(ours.type === 'lazy' ? ours.resolve() : ours);
    return familyOf(word) === familyOf(wordOf(this.#document, place));
  }
}

/** Releases differ in how wide an integer is; the newest decides, and clients of the older one read it all the same. */
function familyOf(word: string): string {
  return word === 'int32' || word === 'int64' ? 'integer' : word;
}
