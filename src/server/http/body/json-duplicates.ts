/**
 * Finds keys that stand twice in one object of a JSON text: the parser keeps the last one and says nothing. Only for texts
 * that it has read. That there are none, as nearly always, is seen by counting.
 */

/** More are not told: a client that sends them has other problems. */
const MOST = 100;

/** The paths of such keys, as `spec.containers[0].image`, each once; undefined when there are none. */
export function duplicateKeys(bytes: Buffer, parsed: unknown): readonly string[] | undefined {
  if (typeof parsed !== 'object' || parsed === null || !hasDuplicates(bytes, parsed)) return undefined;
  return new Finder(bytes).find();
}

/** Whether there are any. */
function hasDuplicates(bytes: Buffer, parsed: object): boolean {
  return countColons(bytes) !== countKeys(parsed);
}

/** Colons outside strings: one a key. */
function countColons(bytes: Buffer): number {
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

/** One open bracket: an object with the keys it had so far, or a list. */
interface Level {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  /** The key whose value is being read, or the item's number. */
  at: string | number;
}

/** Goes through the text once more, now with paths. Slow, and without recursion. */
class Finder {
  readonly #found = new Set<string>();
  readonly #open: Level[] = [];

  constructor(private readonly bytes: Buffer) {}

  find(): readonly string[] {
    const { bytes } = this;
    for (let i = 0; i < bytes.length && this.#found.size < MOST; i++) {
      switch (bytes[i]) {
        case QUOTE: {
          const end = this.#endOfString(i);
          if (this.#isKey(end)) this.#key(JSON.parse(bytes.toString('utf8', i, end)));
          i = end - 1;
          break;
        }
        case 0x7b:
          this.#open.push({ path: this.#path(), keys: new Set(), at: '' });
          break;
        case 0x5b:
          this.#open.push({ path: this.#path(), keys: undefined, at: 0 });
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
    return [...this.#found];
  }

  #key(key: string): void {
    const level = this.#open.at(-1)!;
    level.at = key;
    if (level.keys?.has(key)) this.#found.add(this.#path());
    level.keys?.add(key);
  }

  #path(): string {
    const level = this.#open.at(-1);
    if (!level) return '';
    if (typeof level.at === 'number') return `${level.path}[${level.at}]`;
    return level.path ? `${level.path}.${level.at}` : level.at;
  }

  /** The position behind the closing quote. */
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
