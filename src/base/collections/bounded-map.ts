/** Memory that an entry takes in addition to its key and value: the slot in the map and the entry itself. */
const ENTRY_BYTES = 100;

/** One entry may take this share of a cache; larger ones are not kept, because they would displace too many others. */
export const MAX_SHARE = 1 / 16;

export interface BoundedMapOptions<V> {
  /** Limit for all keys and values together. */
  readonly maxBytes: number;
  /** Estimates the memory of a value, in bytes. Called once, when the value is set. */
  readonly bytesOf: (value: V) => number;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
}

/**
 * A map by text that is limited in bytes, for everything that is remembered under keys that clients choose: they decide
 * how many keys there are, and how long. The entry that was set first is dropped first. Nothing may rely on an entry
 * being kept.
 */
export class BoundedMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxBytes: number;
  readonly #bytesOf: (value: V) => number;
  #bytes = 0;

  constructor({ maxBytes, bytesOf }: BoundedMapOptions<V>) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps the value, unless it is too large, as the newest entry. Returns whether it is kept. */
  set(key: string, value: V): boolean {
    this.delete(key);
    const bytes = ENTRY_BYTES + textBytes(key) + this.#bytesOf(value);
    if (bytes > this.#maxBytes * MAX_SHARE) return false;
    this.#entries.set(detached(key), { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
    return true;
  }

  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  values(): V[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }
}

/** Estimates the memory of a string: two bytes per character, which V8 needs beyond Latin-1. */
export function textBytes(text: string): number {
  return text.length * 2;
}

/**
 * Copies a string. V8 represents a substring as a reference to the whole string, so that a short key can keep the body or
 * header alive that it was cut from.
 */
export function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** Remembers the results of a function of a text. A function that throws is called again. */
export function memoized<V>(compute: (text: string) => V, options: BoundedMapOptions<V>): (text: string) => V {
  const known = new BoundedMap<V>(options);
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    // Results may contain parts of the text.
    const own = detached(text);
    const value = compute(own);
    known.set(own, value);
    return value;
  };
}
