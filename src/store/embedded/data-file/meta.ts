import { readSync } from 'node:fs';

/**
 * Reads the meta pages of LMDB's data file. The file begins with two of them, which transactions write in turn: the one
 * with the higher transaction number is valid, and the other belongs to the previous transaction.
 */
export interface Meta {
  readonly pageSize: number;
  /** The last page in use. The file may be longer. */
  readonly lastPage: number;
  /** The transaction that this meta page committed. */
  readonly transaction: number;
  /** The tree of free pages. */
  readonly free: Tree;
  /** The tree of named tables. */
  readonly main: Tree;
}

/** A B-tree: its root, and how many levels, pages and entries it has. */
export interface Tree {
  /** The root page; undefined when the tree is empty. */
  readonly root: number | undefined;
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
}

export const PAGE_HEADER = 24;
export const TREE_BYTES = 48;
export const META_PAGES = 2;

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const META_PAGE = 0x08;
const PAGE_FLAGS = 18;
const TREES = PAGE_HEADER + 24;
const LAST_PAGE = TREES + META_PAGES * TREE_BYTES;
const TRANSACTION = LAST_PAGE + 8;
const META_BYTES = TRANSACTION + 8;
const NO_PAGE = 2n ** 64n - 1n;

/** Flags of the environment, in a field shared with the flags of the free-page tree: its keys are integers. */
const INTEGER_KEYS = 0x08;
const DATA_IN_FILE = 0x4000;

const MIN_PAGE_BYTES = 512;
const USUAL_PAGE_BYTES = 4096;
const MAX_PAGE_BYTES = 65_536;

/**
 * Reads the newest meta page. Throws when the file, from `start` on, is not an LMDB data file of this version, or its
 * meta pages are damaged.
 */
export function readMeta(file: number, start = 0): Meta {
  const first = readMetaAt(file, start, 0);
  const second = readMetaAt(file, start + first.pageSize, 1);
  if (first.pageSize !== second.pageSize) throw new Error('the meta pages have different page sizes');
  const [newest, other] = second.transaction > first.transaction ? [second, first] : [first, second];
  // In a new file, neither page was ever written; in a copy made by LMDB, only the second one was.
  if (newest.transaction - other.transaction !== 1 && !isInitial(other)) {
    throw new Error(`the meta pages are of the transactions ${first.transaction} and ${second.transaction}`);
  }
  return newest;
}

function isInitial({ transaction, lastPage, free, main }: Meta): boolean {
  const isEmpty = free.root === undefined && main.root === undefined;
  return transaction === 0 && lastPage === META_PAGES - 1 && isEmpty;
}

/** Reports whether a meta page begins with the magic number of LMDB; if none does, it is some other file. */
export function hasMagic(file: number, start = 0): boolean {
  const bytes = Buffer.alloc(PAGE_HEADER + 4);
  return [start, start + USUAL_PAGE_BYTES].some((offset) => {
    readSync(file, bytes, 0, bytes.length, offset);
    return bytes.readUInt32LE(PAGE_HEADER) === MAGIC;
  });
}

function readMetaAt(file: number, offset: number, page: number): Meta {
  const bytes = Buffer.alloc(META_BYTES);
  const length = readSync(file, bytes, 0, META_BYTES, offset);
  if (
    length < META_BYTES ||
    bytes.readUInt32LE(PAGE_HEADER) !== MAGIC ||
    bytes.readUInt32LE(PAGE_HEADER + 4) !== VERSION ||
    bytes.readUInt16LE(PAGE_FLAGS) !== META_PAGE
  ) {
    throw new Error(`page ${page} is not a meta page of an LMDB data file of version 2`);
  }
  const meta = {
    pageSize: bytes.readUInt32LE(TREES),
    lastPage: number(bytes, LAST_PAGE),
    transaction: number(bytes, TRANSACTION),
    free: readTree(bytes, TREES),
    main: readTree(bytes, TREES + TREE_BYTES),
  };
  const { pageSize, transaction, free, main } = meta;
  const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0;
  if (pageSize < MIN_PAGE_BYTES || pageSize > MAX_PAGE_BYTES || !isPowerOfTwo) {
    throw new Error(`meta page ${page} has a page size of ${pageSize} bytes`);
  }
  if ((free.flags & ~DATA_IN_FILE) !== INTEGER_KEYS || main.flags !== 0) {
    throw new Error(`meta page ${page} has the flags ${free.flags} and ${main.flags}`);
  }
  if (transaction > 0 && transaction % META_PAGES !== page) {
    throw new Error(`meta page ${page} is of transaction ${transaction}, which writes the other one`);
  }
  return meta;
}

export function readTree(bytes: Buffer, offset: number): Tree {
  const root = bytes.readBigUInt64LE(offset + 40);
  return {
    root: root === NO_PAGE ? undefined : Number(root),
    flags: bytes.readUInt16LE(offset + 4),
    depth: bytes.readUInt16LE(offset + 6),
    branchPages: number(bytes, offset + 8),
    leafPages: number(bytes, offset + 16),
    overflowPages: number(bytes, offset + 24),
    entries: number(bytes, offset + 32),
  };
}

/** Reads an unsigned 64-bit integer. It is inexact above 2^53, where no valid field is. */
export function number(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}
