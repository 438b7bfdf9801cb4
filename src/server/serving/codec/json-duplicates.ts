/**
 * Finds duplicate keys in a JSON text, of which JSON.parse silently keeps the last. Only for texts that it has parsed.
 * Texts without duplicates, which is nearly all, are recognized by counting.
 */

import type { DividedWork } from '../../../base/event-loop/in-turns.ts';

const MAX_REPORTED_PATHS = 100;
/** Limit for the length of paths; longer ones are truncated. */
const MAX_PATH_LENGTH = 2_000;

/** Returns the paths of duplicate keys, such as `spec.containers[0].image`, each once; undefined if there are none. */
export function duplicateKeys(bytes: Buffer, parsed: unknown): readonly string[] | undefined {
  const search = searchDuplicateKeys(bytes, parsed);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

/** Bytes of a text that are searched in one turn of the event loop. */
const TURN_BYTES = 128 * 1024;

/** Searches a large text over several turns of the event loop. */
export function* searchDuplicateKeys(bytes: Buffer, parsed: unknown): DividedWork<readonly string[] | undefined> {
  if (typeof parsed !== 'object' || parsed === null || !hasDuplicates(bytes, parsed)) return undefined;
  const finder = new DuplicateFinder(bytes);
  while (!finder.search(TURN_BYTES)) yield;
  return finder.found;
}

/** Reports whether the text has more keys than the parsed object. */
function hasDuplicates(bytes: Buffer, parsed: object): boolean {
  return countColons(bytes) !== countKeys(parsed);
}

/** Counts the keys of a text, repeated ones included: the colons outside strings. */
export function countColons(bytes: Buffer): number {
  const end = bytes.length;
  let colons = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i];
    if (byte === COLON) colons++;
    else if (byte === QUOTE) {
      for (i++; i < end; i++) {
        const inside = bytes[i];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) i++;
      }
    }
  }
  return colons;
}

function countKeys(tree: any): number {
  let count = 0;
  if (Array.isArray(tree)) {
    for (let i = 0; i < tree.length; i++) {
      const item = tree[i];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
    return count;
  }
  for (const key in tree) {
    count++;
    const value = tree[key];
    if (typeof value === 'object' && value !== null) count += countKeys(value);
  }
  return count;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

const NONE: Set<string> = new Set();

/** An open bracket: an object with the keys found so far, or a list. */
interface Level {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  /** Keys whose paths have been reported: a key can be repeated a hundred thousand times. */
  readonly reported: Set<string>;
  /** The current key, or the current index. */
  at: string | number;
}

/** Parses the text once more while tracking paths. Slow, and without recursion. */
class DuplicateFinder {
  readonly #found = new Set<string>();
  readonly #open: Level[] = [];
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get found(): readonly string[] {
    return [...this.#found];
  }

  /** Searches about this many further bytes. Returns whether the search is complete. */
  search(count: number): boolean {
    const { bytes } = this;
    const end = Math.min(bytes.length, this.#at + count);
    let i = this.#at;
    for (; i < end && this.#found.size < MAX_REPORTED_PATHS; i++) {
      switch (bytes[i]) {
        case QUOTE: {
          const end = this.#endOfString(i);
          if (this.#isKey(end)) this.#key(JSON.parse(bytes.toString('utf8', i, end)));
          i = end - 1;
          break;
        }
        case 0x7b:
          this.#open.push({ path: this.#path(), keys: new Set(), reported: new Set(), at: '' });
          break;
        case 0x5b:
          this.#open.push({ path: this.#path(), keys: undefined, reported: NONE, at: 0 });
          break;
        case 0x7d:
        case 0x5d:
          this.#open.pop();
          break;
        case 0x2c: {
          const level = this.#open.at(-1)!;
          if (typeof level.at === 'number') level.at++;
        }
      }
    }
    this.#at = i;
    return i >= bytes.length || this.#found.size >= MAX_REPORTED_PATHS;
  }

  #key(key: string): void {
    const level = this.#open.at(-1)!;
    level.at = key;
    if (!level.keys?.has(key)) {
      level.keys?.add(key);
    } else if (!level.reported.has(key)) {
      level.reported.add(key);
      this.#found.add(this.#path());
    }
  }

  #path(): string {
    const level = this.#open.at(-1);
    if (!level) return '';
    const { path, at } = level;
    if (path.length >= MAX_PATH_LENGTH) return path;
    if (typeof at === 'number') return `${path}[${at}]`;
    const key = at.length > MAX_PATH_LENGTH ? `${at.slice(0, MAX_PATH_LENGTH)}…` : at;
    return path ? `${path}.${key}` : key;
  }

  /** Returns the position after the closing quote. */
  #endOfString(start: number): number {
    let i = start + 1;
    while (this.bytes[i] !== QUOTE) i += this.bytes[i] === BACKSLASH ? 2 : 1;
    return i + 1;
  }

  #isKey(end: number): boolean {
    let i = end;
    while (this.bytes[i] === 0x20 || this.bytes[i] === 0x09 || this.bytes[i] === 0x0a || this.bytes[i] === 0x0d) i++;
    return this.bytes[i] === COLON;
  }
}
