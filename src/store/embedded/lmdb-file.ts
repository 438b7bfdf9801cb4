import { readSync } from 'node:fs';

/**
 * Reads LMDB's data file without LMDB: the only code that depends on its internal layout, together with copy-check.ts.
 * Tested with lmdb 3.5.6: version 2 of the format, 64 bits, little-endian. The file begins with two meta pages, of which
 * the one with the higher transaction number is valid.
 */
export interface Meta {
  readonly pageSize: number;
  /** The last page in use. The file may be longer. */
  readonly lastPage: number;
  /** The transaction that this meta page committed. */
  readonly transaction: number;
  /** The tree of free pages, and the tree of named tables. */
  readonly trees: readonly Tree[];
}

/** A B-tree: its root, and how many pages and entries it has. */
export interface Tree {
  /** Undefined when the tree is empty. */
  readonly root: number | undefined;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
}

export const PAGE_HEADER = 24;

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const TREES = PAGE_HEADER + 24;
const TREE_BYTES = 48;
const LAST_PAGE = TREES + 2 * TREE_BYTES;
const TRANSACTION = LAST_PAGE + 8;
const META_BYTES = TRANSACTION + 8;
const NO_PAGE = 2n ** 64n - 1n;

/** Throws when the file is not an LMDB data file of this version. */
export function readMeta(file: number): Meta {
  const first = readMetaAt(file, 0);
  const second = readMetaAt(file, first.pageSize);
  return second.transaction > first.transaction ? second : first;
}

function readMetaAt(file: number, offset: number): Meta {
  const bytes = Buffer.alloc(META_BYTES);
  readSync(file, bytes, 0, META_BYTES, offset);
  if (bytes.readUInt32LE(PAGE_HEADER) !== MAGIC || bytes.readUInt32LE(PAGE_HEADER + 4) !== VERSION) {
    throw new Error('the file is not an LMDB data file of version 2');
  }
  return {
    pageSize: bytes.readUInt32LE(TREES),
    lastPage: number(bytes, LAST_PAGE),
    transaction: number(bytes, TRANSACTION),
    trees: [readTree(bytes, TREES), readTree(bytes, TREES + TREE_BYTES)],
  };
}

export function readTree(bytes: Buffer, offset: number): Tree {
  const root = bytes.readBigUInt64LE(offset + 40);
  return {
    root: root === NO_PAGE ? undefined : Number(root),
    branchPages: number(bytes, offset + 8),
    leafPages: number(bytes, offset + 16),
    overflowPages: number(bytes, offset + 24),
    entries: number(bytes, offset + 32),
  };
}

export function number(bytes: Buffer, offset: number): number {
  return Number(bytes.readBigUInt64LE(offset));
}
