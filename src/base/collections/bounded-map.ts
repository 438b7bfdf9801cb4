/** Memory that an entry takes in addition to its key and value: the slot in the map and the entry itself. */
const ENTRY_BYTES = 100;

/** Maximum share of a cache that one entry may take; a larger one would displace too many others. */
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
 * A map with text keys and a limit in bytes, for caches whose keys clients choose: clients control the number and
 * length of the keys. Evicts the oldest entry first. Callers must not rely on an entry being kept.
 */
export class BoundedMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  #bytes = 0;

  constructor(private readonly options: BoundedMapOptions<V>) {}

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

  /** Adds the value as the newest entry, unless it is too large. Returns whether it was added. */
  set(key: string, value: V): boolean {
    this.delete(key);
    const bytes = ENTRY_BYTES + textBytes(key) + this.options.bytesOf(value);
    if (bytes > this.options.maxBytes * MAX_SHARE) return false;
    this.#entries.set(detached(key), { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.options.maxBytes) break;
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

/** Estimates the memory of a string: two bytes per character, as V8 uses for text beyond Latin-1. */
export function textBytes(text: string): number {
  return text.length * 2;
}

/**
 * Copies a string. V8 represents a substring as a reference to the whole string, so that a short key can keep alive the
 * body or header that it was cut from.
 */
export function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** Memoizes a function of a text. A function that throws is called again. */
export function memoized<V>(compute: (text: string) => V, options: BoundedMapOptions<V>): (text: string) => V {
  const known = new BoundedMap<V>(options);
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    // Results may reference parts of the text.
    const own = detached(text);
    const value = compute(own);
    known.set(own, value);
    return value;
  };
}
