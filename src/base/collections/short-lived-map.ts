/**
 * A Map for short-lived entries. V8's Map moves to a new table repeatedly while entries come and go, and each table
 * references the next one: once one of them is in the old generation, the contents of all later ones stay alive until
 * the next major collection. This class starts a new Map periodically, so that old tables are dropped.
 */
export class ShortLivedMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** Insertions until the young map becomes the old one. */
  #insertionsLeft = MIN_INSERTIONS;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (--this.#insertionsLeft > 0) return;
    const left = this.#old;
    this.#old = this.#young;
    // Copies long-lived entries: the more there are, the less often.
    this.#young = new Map(left);
    this.#insertionsLeft = Math.max(MIN_INSERTIONS, left.size);
  }

  delete(key: K): boolean {
    return this.#young.delete(key) || this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  keys(): K[] {
    return [...this.#old.keys(), ...this.#young.keys()];
  }

  values(): V[] {
    return [...this.#old.values(), ...this.#young.values()];
  }
}

const MIN_INSERTIONS = 256;
