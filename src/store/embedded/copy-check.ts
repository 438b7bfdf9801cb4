import { readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Database } from './database.ts';
import { StoreFormat, StoreTorn } from './errors.ts';
import { isIntact } from './layout.ts';
import { type Meta, number, PAGE_HEADER, readMeta, readTree, type Tree } from './lmdb-file.ts';

/**
 * Checks that a copy of a data file is consistent. A program that copies the file while LMDB writes gets the meta pages of
 * one transaction, and then perhaps pages that later transactions have reused. Every page has the number of the transaction
 * that wrote it, and every tree its number of pages, so such a copy is detected before LMDB follows its pointers.
 */

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const ON_OVERFLOW_PAGES = 0x01;
const IS_TREE = 0x02;
const NODE_HEADER = 8;

/** Checks the file before LMDB opens it: a foreign or truncated file would crash the process. */
export async function checkFile(directory: string, path: string, copied: boolean): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const meta = metaOf(path, file.fd);
    const isTruncated = size < (meta.lastPage + 1) * meta.pageSize;
    if (copied || isTruncated) checkTrees(directory, file.fd, meta);
  } finally {
    await file.close();
  }
}

function metaOf(path: string, file: number): Meta {
  try {
    return readMeta(file);
  } catch (cause) {
    throw new StoreFormat(`${path} is not the data file of a store`, { cause });
  }
}

function checkTrees(directory: string, file: number, meta: Meta): void {
  try {
    for (const tree of meta.trees) new TreeWalk(file, meta).walk(tree);
  } catch (cause) {
    throw torn(directory, cause);
  }
}

/** Checks every record, because the last pages of a long value have no transaction number. */
export function checkRecords(directory: string, database: Database): void {
  for (const [position, bytes] of database.records(0)) {
    if (!isIntact(bytes)) throw torn(directory, new Error(`the record of revision ${position.revision} is damaged`));
  }
}

function torn(directory: string, cause: unknown): StoreTorn {
  return new StoreTorn(`${directory} is not consistent: it was truncated, or copied while it was written to`, {
    cause,
  });
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

  /** Checks what a node of a leaf points to, and returns its number of overflow pages. */
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
    if (page > lastPage) throw new Error(`page ${page} is after the last page, ${lastPage}`);
    expectSame('bytes of a page', readSync(this.#file, bytes, 0, pageSize, page * pageSize), pageSize);
    expectSame('number of a page', number(bytes, 0), page);
    const transaction = number(bytes, 8);
    if (transaction > newest) throw new Error(`page ${page} is of transaction ${transaction}, after ${newest}`);
    return { bytes, kind: bytes.readUInt16LE(18) & (BRANCH | LEAF | OVERFLOW), transaction };
  }
}

/** The offsets of the nodes of a page, which count from the end of its header. */
function nodesOf(bytes: Buffer): number[] {
  const count = bytes.readUInt16LE(20) / 2;
  return Array.from({ length: count }, (_, i) => PAGE_HEADER + bytes.readUInt16LE(PAGE_HEADER + 2 * i));
}

/** The page that a node of a branch points to: 48 bits in three parts. */
function childOf(bytes: Buffer, node: number): number {
  return bytes.readUInt32LE(node) + bytes.readUInt16LE(node + 4) * 2 ** 32;
}

function expectSame(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}
