/** Reads the fields of a parsed document, and reports errors with their path. */
import { type DurationRange, parseDurationRange } from './duration.ts';

/** An error in a rule file or an annotation. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
}

type Tree = Readonly<Record<string, unknown>>;

export class DocumentReader {
  readonly #unread: Map<string, unknown>;

  private constructor(
    tree: Tree,
    readonly path: string,
  ) {
    this.#unread = new Map(Object.entries(tree));
  }

  /** Returns what `read` makes of a document. Throws when it leaves a field. */
  static read<T>(tree: unknown, path: string, read: (reader: DocumentReader) => T): T {
    if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
      throw new RuleError(`${path || 'the file'}: must be a map`);
    }
    const reader = new DocumentReader(tree as Tree, path);
    const result = read(reader);
    const [unknown] = reader.#unread.keys();
    if (unknown !== undefined) throw new RuleError(`${reader.#at(unknown)}: unknown field`);
    return result;
  }

  /** Returns the value and marks the field as known. */
  take(name: string): unknown {
    const value = this.#unread.get(name);
    this.#unread.delete(name);
    return value ?? undefined;
  }

  child<T>(name: string, read: (child: DocumentReader) => T): T | undefined {
    const value = this.take(name);
    return value === undefined ? undefined : DocumentReader.read(value, this.#at(name), read);
  }

  list<T>(name: string, read: (item: DocumentReader) => T): T[] {
    const value = this.take(name) ?? [];
    if (!Array.isArray(value)) throw this.#typeError(name, 'a list');
    return value.map((item, index) => DocumentReader.read(item, `${this.#at(name)}[${index}]`, read));
  }

  string(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#typeError(name, 'a string');
  }

  /** A string, or a list of strings. */
  strings(name: string): readonly string[] | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const list = Array.isArray(value) ? value : [value];
    if (list.every((item) => typeof item === 'string')) return list;
    throw this.#typeError(name, 'a string or a list of strings');
  }

  boolean(name: string): boolean | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#typeError(name, 'true or false');
  }

  integer(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return value as number;
    throw this.#typeError(name, 'a whole number, 0 or more');
  }

  /** Numbers count as strings: `cpu: 4`. */
  map(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#typeError(name, 'a map of strings');
    const entries = Object.entries(value as Tree).map(([key, each]) => {
      if (typeof each !== 'string' && typeof each !== 'number') throw this.#typeError(`${name}.${key}`, 'a string');
      return [key, String(each)];
    });
    return Object.fromEntries(entries);
  }

  duration(name: string): DurationRange | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const read = parseDurationRange(String(value));
    if (!read) throw this.#typeError(name, 'a duration such as 2s, or a range such as 500ms..2s');
    return read;
  }

  required<T>(name: string, value: T | undefined): T {
    if (value === undefined) throw new RuleError(`${this.#at(name)}: is required`);
    return value;
  }

  #at(name: string): string {
    return this.path ? `${this.path}.${name}` : name;
  }

  #typeError(name: string, expected: string): RuleError {
    return new RuleError(`${this.#at(name)}: must be ${expected}`);
  }
}
