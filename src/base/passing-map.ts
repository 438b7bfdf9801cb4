/**
 * A Map for what comes and goes quickly. V8's own Map moves to a new table again and again while entries come and go, and
 * each table keeps the next one: once one of them has grown old, everything that was in the later ones stays until the next
 * great collection. Here the tables are left behind after a while, with a Map of their own.
 */
export class PassingMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** What the young one still takes. */
  #room = TURN;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (--this.#room > 0) return;
    const left = this.#old;
    this.#old = this.#young;
    // What is there for long moves on: the more of it, the less often.
    this.#young = new Map(left);
    this.#room = Math.max(TURN, left.size);
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

const TURN = 256;
