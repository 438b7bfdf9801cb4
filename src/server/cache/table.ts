import type { ChangeRecord } from './change-record.ts';
import type { Entry } from './entry.ts';

/** The objects of one namespace (or all of a kind without namespaces). They are put in order when somebody reads them. */
class Shelf {
  readonly byName = new Map<string, Entry>();
  /** Names in order, those of `#added` still missing; may hold some that are gone. */
  #names: string[] = [];
  #added: string[] = [];
  #gone = false;
  #entries: readonly Entry[] | undefined;

  put(entry: Entry): void {
    const { name } = entry.at;
    if (!this.byName.has(name)) this.#added.push(name);
    this.byName.set(name, entry);
    this.#entries = undefined;
  }

  remove(name: string): void {
    if (!this.byName.delete(name)) return;
    this.#gone = true;
    this.#entries = undefined;
  }

  /** In the order of names. */
  entries(): readonly Entry[] {
    this.#entries ??= this.#sorted();
    return this.#entries;
  }

  #sorted(): Entry[] {
    if (this.#gone || this.#added.length > 0) {
      // An object that went and came again stands in both lists.
      const names = this.#gone ? [...this.byName.keys()] : [...this.#names, ...this.#added];
      this.#names = names.sort(byBytes);
      this.#added = [];
      this.#gone = false;
    }
    return this.#names.map((name) => this.byName.get(name)!);
  }
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** All objects of a kind, with their latest changes. */
export class Table {
  readonly #shelves = new Map<string, Shelf>();
  /** Changes in order of revision; those before `#head` are forgotten. */
  #changes: ChangeRecord[] = [];
  #head = 0;
  /** Grows with every change: what was derived from the table is still right while it is the same. */
  generation = 0;
  readonly listeners = new Set<(record: ChangeRecord) => void>();

  constructor(readonly name: string) {}

  get(namespace: string, name: string): Entry | undefined {
    return this.#shelves.get(namespace)?.byName.get(name);
  }

  /** In key order; all namespaces where none is named. The result is only for reading, and only until the next change. */
  entries(namespace: string): readonly Entry[] {
    if (namespace) return this.#shelves.get(namespace)?.entries() ?? [];
    if (this.#shelves.size === 1) return [...this.#shelves.values()][0]!.entries();
    // Keys order `a-b/…` before `a/…`, since `-` comes before `/`.
    const order = [...this.#shelves.keys()].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
    return order.flatMap((each) => this.#shelves.get(each)!.entries());
  }

  /** How many there are; in all namespaces where none is named. */
  count(namespace: string): number {
    if (namespace) return this.#shelves.get(namespace)?.byName.size ?? 0;
    let sum = 0;
    for (const shelf of this.#shelves.values()) sum += shelf.byName.size;
    return sum;
  }

  put(entry: Entry): void {
    const { namespace } = entry.at;
    let shelf = this.#shelves.get(namespace);
    if (!shelf) {
      shelf = new Shelf();
      this.#shelves.set(namespace, shelf);
    }
    shelf.put(entry);
    this.generation++;
  }

  remove(namespace: string, name: string): void {
    const shelf = this.#shelves.get(namespace);
    if (!shelf) return;
    shelf.remove(name);
    if (shelf.byName.size === 0) this.#shelves.delete(namespace);
    this.generation++;
  }

  record(change: ChangeRecord): void {
    this.#changes.push(change);
  }

  /** Puts older history in front; both lists are in order. */
  prepend(older: readonly ChangeRecord[]): void {
    this.#changes = [...older, ...this.#changes.slice(this.#head)];
    this.#head = 0;
  }

  forgetOldest(): void {
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Every remembered change after the revision, in order. */
  changesAfter(revision: number): readonly ChangeRecord[] {
    const changes = this.#changes;
    let low = this.#head;
    let high = changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (changes[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return changes.slice(low);
  }

  /** The objects as they were at a revision that history still reaches. */
  entriesAt(revision: number, namespace: string): readonly Entry[] {
    const undo = this.changesAfter(revision).filter((each) => !namespace || each.at.namespace === namespace);
    if (undo.length === 0) return this.entries(namespace);
    const state = new Map(this.entries(namespace).map((entry) => [entry.at.key, entry]));
    for (const change of undo.toReversed()) {
      if (change.previous) state.set(change.at.key, change.previous);
      else state.delete(change.at.key);
    }
    return [...state.values()].sort((a, b) => (a.at.key < b.at.key ? -1 : 1));
  }
}
