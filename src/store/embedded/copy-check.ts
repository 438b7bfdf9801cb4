import { readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Database } from './database.ts';
import { StoreFormat, StoreTorn } from './errors.ts';
import { isWhole } from './layout.ts';
import { type Meta, number, PAGE_HEADER, readMeta, readTree, type Tree } from './lmdb-file.ts';

/**
 * Whether a copy of a data file is one state of it. A program that reads the file while LMDB writes gets the meta pages
 * of one transaction, and then perhaps pages that later ones have used again. Every page says which transaction wrote
 * it, and every tree how many pages it has; so such a copy shows, and is refused before LMDB follows its pointers.
 */

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const ON_OVERFLOW_PAGES = 0x01;
const IS_TREE = 0x02;
const NODE_HEADER = 8;

/** Looks at the file before LMDB does: what is not its own, or cut off, takes the process down there. */
export async function checkFile(directory: string, path: string, copied: boolean): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const meta = metaOf(path, file.fd);
    const cut = size < (meta.lastPage + 1) * meta.pageSize;
    if (copied || cut) checkTrees(directory, file.fd, meta);
  } finally {
    await file.close();
  }
}

function metaOf(path: string, file: number): Meta {
  try {
    return readMeta(file);
  } catch (cause) {
    throw new StoreFormat(`${path} is not the file of a store`, { cause });
  }
}

function checkTrees(directory: string, file: number, meta: Meta): void {
  try {
    for (const tree of meta.trees) new TreeWalk(file, meta).walk(tree);
  } catch (cause) {
    throw torn(directory, cause);
  }
}

/** Reads every record: the last pages of a long value have no mark of their own. */
export function checkRecords(directory: string, database: Database): void {
  for (const [position, bytes] of database.records(0)) {
    if (!isWhole(bytes)) throw torn(directory, new Error(`the record of revision ${position.revision} is damaged`));
  }
}

function torn(directory: string, cause: unknown): StoreTorn {
  return new StoreTorn(`${directory} is not whole: it was cut off, or copied while a program wrote to it`, { cause });
}

class TreeWalk {
  readonly #file: number;
  readonly #meta: Meta;

  constructor(file: number, meta: Meta) {
    this.#file = file;
    this.#meta = meta;
  }

  walk(tree: Tree): void {
    const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    const pages = tree.root === undefined ? [] : [tree.root];
    for (let page = pages.pop(); page !== undefined; page = pages.pop()) {
      const { bytes, kind } = this.#read(page);
      const nodes = nodesOf(bytes);
      if (kind === BRANCH) {
        found.branchPages++;
        for (const node of nodes) pages.push(childOf(bytes, node));
      } else {
        found.leafPages++;
        found.entries += nodes.length;
        for (const node of nodes) found.overflowPages += this.#checkNode(bytes, node);
      }
    }
    for (const [what, count] of Object.entries(found)) {
      expectSame(`${what} of a tree`, count, tree[what as keyof typeof found]);
    }
  }

  /** Looks at what a node of a leaf points to. Says how many overflow pages it has. */
  #checkNode(bytes: Buffer, node: number): number {
    const flags = bytes.readUInt16LE(node + 4);
    const data = node + NODE_HEADER + bytes.readUInt16LE(node + 6);
    if (flags & IS_TREE) this.walk(readTree(bytes, data));
    if (!(flags & ON_OVERFLOW_PAGES)) return 0;
    const first = this.#read(number(bytes, data));
    expectSame('kind of page', first.kind, OVERFLOW);
    expectSame('transaction of a value', first.transaction, number(bytes, data + 8));
    const pages = number(bytes, data + 16);
    expectSame('pages of a value', first.bytes.readUInt32LE(20), pages);
    return pages;
  }

  #read(page: number): { bytes: Buffer; kind: number; transaction: number } {
    const { pageSize, lastPage, transaction: newest } = this.#meta;
    const bytes = Buffer.alloc(pageSize);
    if (page > lastPage) throw new Error(`page ${page} lies behind the last, ${lastPage}`);
    expectSame('bytes of a page', readSync(this.#file, bytes, 0, pageSize, page * pageSize), pageSize);
    expectSame('number of a page', number(bytes, 0), page);
    const transaction = number(bytes, 8);
    if (transaction > newest) throw new Error(`page ${page} is of transaction ${transaction}, after ${newest}`);
    return { bytes, kind: bytes.readUInt16LE(18) & (BRANCH | LEAF | OVERFLOW), transaction };
  }
}

/** Where the nodes of a page begin. Offsets in a page count from behind its header. */
function nodesOf(bytes: Buffer): number[] {
  const count = bytes.readUInt16LE(20) / 2;
  return Array.from({ length: count }, (_, i) => PAGE_HEADER + bytes.readUInt16LE(PAGE_HEADER + 2 * i));
}

/** The page that a node of a branch points to: 48 bits in three parts. */
function childOf(bytes: Buffer, node: number): number {
  return bytes.readUInt32LE(node) + bytes.readUInt16LE(node + 4) * 2 ** 32;
}

function expectSame(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} in place of ${expected}`);
}
