import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Entry } from './entry/entry.ts';
import { ChangeRecord } from './history/change-record.ts';

/** The objects of one namespace, or all of a cluster-scoped kind. They are sorted on read. */
class NamespaceEntries {
  readonly byName = new Map<string, Entry>();
  /** Sorted names without those of `#added`; may contain names of deleted objects. */
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

  /** Returns the entries sorted by name. */
  entries(): readonly Entry[] {
    this.#entries ??= this.#sorted();
    return this.#entries;
  }

  #sorted(): Entry[] {
    if (this.#gone || this.#added.length > 0) {
      // An object that was deleted and recreated is in both lists.
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

/** Placeholder for a dropped change, whose objects may be large. */
const FORGOTTEN = new ChangeRecord(0, { key: '', namespace: '', name: '' }, undefined, undefined);

/** The objects of one group and plural, with their latest changes. */
export class Table {
  readonly #namespaces = new Map<string, NamespaceEntries>();
  /** Changes in order of revision; those before `#head` have been dropped. */
  #changes: ChangeRecord[] = [];
  #head = 0;
  /** Incremented with every change: data derived from the table is up to date while it stays the same. */
  generation = 0;
  readonly listeners = new Set<(record: ChangeRecord) => void>();

  constructor(readonly name: string) {}

  get(namespace: string, name: string): Entry | undefined {
    return this.#namespaces.get(namespace)?.byName.get(name);
  }

  /** Returns the entries of a namespace, or of all for '', in key order. The array is never changed afterwards. */
  entries(namespace: string): readonly Entry[] {
    if (namespace) return this.#namespaces.get(namespace)?.entries() ?? [];
    if (this.#namespaces.size === 1) return [...this.#namespaces.values()][0]!.entries();
    // Sorted in key order: `a-b/…` comes before `a/…`, since `-` comes before `/`.
    const order = [...this.#namespaces.keys()].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
    return order.flatMap((each) => this.#namespaces.get(each)!.entries());
  }

  /** Returns the number of objects in a namespace, or in all for ''. */
  count(namespace: string): number {
    if (namespace) return this.#namespaces.get(namespace)?.byName.size ?? 0;
    let sum = 0;
    for (const entries of this.#namespaces.values()) sum += entries.byName.size;
    return sum;
  }

  put(entry: Entry): void {
    const { namespace } = entry.at;
    const entries = getOrInsert(this.#namespaces, namespace, () => new NamespaceEntries());
    entries.put(entry);
    this.generation++;
  }

  /** Returns a table with the same entries, without their history. */
  copy(): Table {
    const copy = new Table(this.name);
    for (const entry of this.entries('')) copy.put(entry);
    return copy;
  }

  remove(namespace: string, name: string): void {
    const entries = this.#namespaces.get(namespace);
    if (!entries) return;
    entries.remove(name);
    if (entries.byName.size === 0) this.#namespaces.delete(namespace);
    this.generation++;
  }

  record(change: ChangeRecord): void {
    this.#changes.push(change);
  }

  /** Puts older changes before the others; both lists are in order. */
  prepend(older: readonly ChangeRecord[]): void {
    this.#changes = [...older, ...this.#changes.slice(this.#head)];
    this.#head = 0;
  }

  forgetOldest(): void {
    // The array slot stays for a while, but its content must be released.
    this.#changes[this.#head++] = FORGOTTEN;
    if (this.#head > 1024 && this.#head * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Returns the kept changes after the revision, in order. */
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

  /** Returns the objects as of a revision, whose later changes must all be kept. */
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
