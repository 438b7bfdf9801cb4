import { number, PAGE_HEADER, type Tree } from './meta.ts';
import {
  BRANCH,
  checkNodes,
  childOf,
  flagsOf,
  IN_USE,
  keyOf,
  LEAF,
  NODE_HEADER,
  nodeAt,
  ON_OVERFLOW_PAGES,
  OVERFLOW,
  type Pages,
} from './page.ts';

/** Receives an entry of a tree. The key and the value are valid until it returns. */
export type Visit = (key: Buffer, value: Buffer) => void;

export interface TreeRules {
  /** Required flags of every node in a leaf, besides the flag for overflow pages. */
  readonly nodeFlags: number;
  compare(a: Buffer, b: Buffer): number;
}

/** The deepest tree that LMDB's cursors can follow. */
const MAX_DEPTH = 32;

/** The transaction number of references to overflow pages in a copy made by LMDB. */
const IN_A_COPY = 1;

/** Keys must be at or after the first bound, and before the second. */
type Bounds = readonly [from: Buffer | undefined, to: Buffer | undefined];

/** Visits all entries of a tree in order, after checking everything that LMDB relies on. Yields before each page. */
export function walkTree(pages: Pages, tree: Tree, rules: TreeRules, visit: Visit): Iterable<void> {
  return new TreeWalk(pages, tree, rules, visit).run();
}

class TreeWalk {
  /** A buffer per level: the pages of the levels above are still in use. */
  readonly #levels: Buffer[] = [];
  readonly #found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };

  constructor(
    private readonly pages: Pages,
    private readonly tree: Tree,
    private readonly rules: TreeRules,
    private readonly visit: Visit,
  ) {}

  *run(): Generator<void> {
    const { root, depth } = this.tree;
    if (depth > MAX_DEPTH || (root === undefined) !== (depth === 0)) throw new Error(`a tree has ${depth} levels`);
    if (root !== undefined) yield* this.#walk(root, 1, [undefined, undefined]);
    const found = this.#found;
    for (const [what, count] of Object.entries(found)) {
      const expected = this.tree[what as keyof typeof found];
      if (count !== expected) throw new Error(`a tree has ${count} ${what} instead of ${expected}`);
    }
  }

  *#walk(page: number, level: number, bounds: Bounds): Generator<void> {
    yield;
    this.pages.claim(page, 1, IN_USE);
    this.#levels[level] ??= Buffer.allocUnsafe(this.pages.meta.pageSize);
    const bytes = this.#levels[level] as Buffer;
    this.pages.read(page, 1).copy(bytes);
    const kind = level === this.tree.depth ? LEAF : BRANCH;
    const flags = flagsOf(bytes);
    if (flags !== kind) throw new Error(`page ${page} has the flags ${flags} instead of ${kind}`);
    const count = checkNodes(page, bytes, kind);
    // LMDB ignores the first key of a branch.
    this.#checkOrder(page, bytes, kind === BRANCH ? 1 : 0, count, bounds);
    if (kind === LEAF) this.#leaf(page, bytes, count);
    else yield* this.#branch(bytes, count, level, bounds);
  }

  #checkOrder(page: number, bytes: Buffer, first: number, count: number, [from, to]: Bounds): void {
    const { compare } = this.rules;
    let before = from;
    for (let i = first; i < count; i++) {
      const key = keyOf(bytes, nodeAt(bytes, i));
      const order = before === undefined ? 1 : compare(key, before);
      // The first key of a leaf may equal the one in the branch.
      if (order < 0 || (order === 0 && i > 0)) throw disordered(page);
      before = key;
    }
    if (to && before && compare(before, to) >= 0) throw disordered(page);
  }

  *#branch(bytes: Buffer, count: number, level: number, [from, to]: Bounds): Generator<void> {
    this.#found.branchPages++;
    for (let i = 0; i < count; i++) {
      const node = nodeAt(bytes, i);
      const lower = i === 0 ? from : keyOf(bytes, node);
      const upper = i === count - 1 ? to : keyOf(bytes, nodeAt(bytes, i + 1));
      yield* this.#walk(childOf(bytes, node), level + 1, [lower, upper]);
    }
  }

  #leaf(page: number, bytes: Buffer, count: number): void {
    this.#found.leafPages++;
    this.#found.entries += count;
    for (let i = 0; i < count; i++) {
      const node = nodeAt(bytes, i);
      const flags = bytes.readUInt16LE(node + 4);
      if ((flags & ~ON_OVERFLOW_PAGES) !== this.rules.nodeFlags) throw new Error(`page ${page} has invalid node flags`);
      const key = keyOf(bytes, node);
      const data = node + NODE_HEADER + key.length;
      const size = bytes.readUInt32LE(node);
      this.visit(key, flags & ON_OVERFLOW_PAGES ? this.#long(bytes, data, size) : bytes.subarray(data, data + size));
    }
  }

  /** Reads a value on overflow pages, of which only the first has a header. */
  #long(bytes: Buffer, reference: number, size: number): Buffer {
    const first = number(bytes, reference);
    const count = number(bytes, reference + 16);
    if (count !== Math.ceil((PAGE_HEADER + size) / this.pages.meta.pageSize)) {
      throw new Error(`the value on page ${first} has ${size} bytes on ${count} pages`);
    }
    this.pages.claim(first, count, IN_USE);
    this.#found.overflowPages += count;
    const value = this.pages.read(first, count);
    const transaction = number(bytes, reference + 8);
    const isSame = transaction === number(value, 8) || transaction === IN_A_COPY;
    if (flagsOf(value) !== OVERFLOW || !isSame || value.readUInt32LE(20) !== count) {
      throw new Error(`page ${first} does not begin the value that refers to it`);
    }
    return value.subarray(PAGE_HEADER, PAGE_HEADER + size);
  }
}

function disordered(page: number): Error {
  return new Error(`the keys of page ${page} are not in order`);
}
