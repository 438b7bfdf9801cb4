import type { DividedWork, Pace } from '../base/event-loop/in-turns.ts';
import { isTree, put, type Tree } from '../base/json/tree.ts';
import { checkDepth, PatchError } from './patch/patch-error.ts';
import { PatchWork } from './patch/patch-work.ts';

/** Limit for the JSON that all `copy` operations of a patch add. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/**
 * Limit for the work of all operations of a patch beyond their own size: list items that insertions and removals shift, and
 * keys that `test` counts. Each is cheap, but a patch has thousands of operations, and a list may have a million items.
 */
const MAX_WORK = 10_000_000;
/** Limit for following paths and for copying, in units of shifting one item of a list. */
const MAX_PATH_WORK = 10_000_000;
const WORK_PER_CHARACTER = 5;
const WORK_PER_STEP = 40;
const WORK_PER_COPIED_KEY = 100;

/** Number of values visited between two checks of the pace. */
const VALUES_PER_LOOK = 1_000;

export const fails = (message: string) => new PatchError('Invalid', message);

/**
 * A tree that is being patched. Objects and lists are copied when they are first written to, so that the caller's tree is
 * not changed and a long patch copies nothing twice.
 */
export class Document {
  root: unknown;
  readonly work = new PatchWork(
    MAX_WORK,
    'The JSON patch shifts or compares too many items: insert at the end of lists, or replace whole lists',
  );
  readonly #pathWork = new PatchWork(MAX_PATH_WORK, 'The JSON patch has too long paths, or copies too many keys');
  readonly #own = new Set<object>();
  #copied = 0;

  constructor(root: unknown) {
    this.root = root;
  }

  /** The location that a path points to; undefined when its parent does not exist. */
  find(path: string): Location | undefined {
    this.#pathWork.spend(path.length * WORK_PER_CHARACTER);
    const steps = path.split('/').slice(1).map(decodeStep);
    this.#pathWork.spend(steps.length * WORK_PER_STEP);
    const key = steps.pop();
    if (key === undefined) return undefined;
    checkDepth(steps.length);
    let holder = this.#owned(this.root, (value) => {
      this.root = value;
    });
    for (const step of steps) {
      if (!holder) return undefined;
      const location: Location = this.#locationIn(holder, step);
      if (!location.isReachable) return undefined;
      holder = this.#owned(location.get(), (value) => location.set(value));
    }
    return holder && this.#locationIn(holder, key);
  }

  #locationIn(holder: Tree | unknown[], key: string): Location {
    return Array.isArray(holder) ? new Index(holder, key, this.work) : new Key(holder, key);
  }

  /** The value itself if it is already a copy, or else a copy that `replace` puts in its place. */
  #owned(value: unknown, replace: (value: unknown) => void): Tree | unknown[] | undefined {
    if (!Array.isArray(value) && !isTree(value)) return undefined;
    if (this.#own.has(value)) return value;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    replace(copy);
    return copy;
  }

  duplicate(value: unknown): unknown {
    return this.#copy(value, 0);
  }

  #copy(value: unknown, depth: number): unknown {
    checkDepth(depth);
    if (typeof value !== 'object' || value === null) {
      this.#count(typeof value === 'string' ? value.length + 2 : String(value).length);
      return value;
    }
    this.#count(2);
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    const out: Tree = {};
    for (const [key, item] of Object.entries(value)) {
      this.#count(key.length + 4);
      this.#pathWork.spend(WORK_PER_COPIED_KEY);
      put(out, key, this.#copy(item, depth + 1));
    }
    return out;
  }

  #count(bytes: number): void {
    this.#copied += bytes;
    if (this.#copied <= MAX_COPIED_BYTES) return;
    const message = `the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${MAX_COPIED_BYTES}`;
    throw fails(`Unable to complete the copy, ${message}`);
  }

  /** Checks the depth of the tree, which moves can increase beyond that of the patch. Yields when the pace is spent. */
  *finish(pace: Pace): DividedWork<void> {
    const waiting: [unknown, number][] = [[this.root, 0]];
    let visited = 0;
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [value, depth] = next;
      if (typeof value !== 'object' || value === null) continue;
      checkDepth(depth);
      for (const key in value) {
        const child = (value as Tree)[key];
        if (typeof child === 'object') waiting.push([child, depth + 1]);
        if (++visited % VALUES_PER_LOOK === 0 && pace.isSpent()) yield;
      }
    }
  }
}

const decodeStep = (step: string) => (step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step);

/** Key of an object, or index of a list. */
interface Location {
  readonly key: string;
  /** True when `get` would succeed. A key of an object always is reachable. */
  readonly isReachable: boolean;
  get(): unknown;
  set(value: unknown): void;
  add(value: unknown): void;
  remove(): void;
}

class Key implements Location {
  readonly isReachable = true;

  constructor(
    readonly holder: Tree,
    readonly key: string,
  ) {}

  get(): unknown {
    return Object.hasOwn(this.holder, this.key) ? this.holder[this.key] : undefined;
  }

  set(value: unknown): void {
    put(this.holder, this.key, value);
  }

  add(value: unknown): void {
    this.set(value);
  }

  remove(): void {
    if (!Object.hasOwn(this.holder, this.key)) {
      throw fails(`Unable to remove nonexistent key: ${this.key}: missing value`);
    }
    delete this.holder[this.key];
  }
}

class Index implements Location {
  constructor(
    readonly list: unknown[],
    readonly key: string,
    readonly work: PatchWork,
  ) {}

  get isReachable(): boolean {
    return this.#index(this.list.length) !== undefined;
  }

  get(): unknown {
    return this.list[this.#indexOrFail(this.list.length)];
  }

  set(value: unknown): void {
    this.list[this.#indexOrFail(this.list.length)] = value;
  }

  add(value: unknown): void {
    if (this.key === '-') {
      this.list.push(value);
      return;
    }
    if (!isNumeric(this.key)) {
      throw fails(`value was not a proper array index: '${this.key}': ${notANumber(this.key)}`);
    }
    const index = this.#indexOrFail(this.list.length + 1);
    this.work.spend(this.list.length - index);
    this.list.splice(index, 0, value);
  }

  remove(): void {
    const index = this.#indexOrFail(this.list.length);
    this.work.spend(this.list.length - index);
    this.list.splice(index, 1);
  }

  /** The index within a list of this length, counted from the end when negative. */
  #index(length: number): number | undefined {
    if (!isNumeric(this.key)) return undefined;
    const index = Number(this.key);
    if (index >= length || index < -length) return undefined;
    return index < 0 ? index + length : index;
  }

  #indexOrFail(length: number): number {
    if (!isNumeric(this.key)) throw fails(notANumber(this.key));
    const index = this.#index(length);
    if (index === undefined)
      throw fails(`Unable to access invalid index: ${Number(this.key)}: invalid index referenced`);
    return index;
  }
}

const isNumeric = (text: string) => /^[+-]?\d{1,15}$/.test(text);
const notANumber = (text: string) => `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
