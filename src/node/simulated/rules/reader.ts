/** Takes a parsed document apart, and knows where it is when something is wrong. */
import { parseSpan, type Span } from './span.ts';

/** A fault in a rule file or in an annotation. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
}

type Tree = Readonly<Record<string, unknown>>;

export class Reader {
  readonly #left: Map<string, unknown>;

  private constructor(
    tree: Tree,
    readonly path: string,
  ) {
    this.#left = new Map(Object.entries(tree));
  }

  static of(tree: unknown, path: string): Reader {
    if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
      throw new RuleError(`${path || 'the file'}: it must be a map`);
    }
    return new Reader(tree as Tree, path);
  }

  /** The value, which then counts as known. */
  take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value ?? undefined;
  }

  child(name: string): Reader | undefined {
    const value = this.take(name);
    return value === undefined ? undefined : Reader.of(value, this.#at(name));
  }

  list<T>(name: string, read: (item: Reader) => T): T[] {
    const value = this.take(name) ?? [];
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list');
    return value.map((item, index) => read(Reader.of(item, `${this.#at(name)}[${index}]`)));
  }

  text(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrong(name, 'a text');
  }

  /** One text, or a list of them. */
  texts(name: string): readonly string[] | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const list = Array.isArray(value) ? value : [value];
    if (list.every((item) => typeof item === 'string')) return list;
    throw this.#wrong(name, 'a text or a list of texts');
  }

  boolean(name: string): boolean | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#wrong(name, 'true or false');
  }

  integer(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return value as number;
    throw this.#wrong(name, 'a whole number');
  }

  /** Numbers are taken for texts: `cpu: 4`. */
  map(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#wrong(name, 'a map of texts');
    const entries = Object.entries(value as Tree).map(([key, each]) => {
      if (typeof each !== 'string' && typeof each !== 'number') throw this.#wrong(`${name}.${key}`, 'a text');
      return [key, String(each)];
    });
    return Object.fromEntries(entries);
  }

  span(name: string): Span | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const read = parseSpan(String(value));
    if (!read) throw this.#wrong(name, 'a time such as 2s, or a span such as 500ms..2s');
    return read;
  }

  /** The field as an object with it, or with nothing. */
  optional<N extends string, T>(name: N, read: (name: N) => T | undefined): { [K in N]?: T } {
    const value = read(name);
    return (value === undefined ? {} : { [name]: value }) as { [K in N]?: T };
  }

  required<T>(name: string, read: (name: string) => T | undefined): T {
    const value = read(name);
    if (value === undefined) throw new RuleError(`${this.#at(name)}: it must be given`);
    return value;
  }

  /** What nobody has taken is a slip. */
  end(): void {
    const [unknown] = this.#left.keys();
    if (unknown !== undefined) throw new RuleError(`${this.#at(unknown)}: there is no such field`);
  }

  #at(name: string): string {
    return this.path ? `${this.path}.${name}` : name;
  }

  #wrong(name: string, wanted: string): RuleError {
    return new RuleError(`${this.#at(name)}: it must be ${wanted}`);
  }
}
