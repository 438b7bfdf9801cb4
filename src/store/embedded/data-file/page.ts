import { readSync } from 'node:fs';
import { META_PAGES, type Meta, number, PAGE_HEADER } from './meta.ts';

/** The location of a data file. */
export interface DataFile {
  /** An open file. */
  readonly file: number;
  /** Offset of the data: a snapshot has a header before it. */
  readonly start: number;
}

const UNUSED = 0;
export const IN_USE = 1;
export const FREE = 2;

export const BRANCH = 0x01;
export const LEAF = 0x02;
export const OVERFLOW = 0x04;

/** Flags of a node in a leaf. */
export const ON_OVERFLOW_PAGES = 0x01;
export const IS_TREE = 0x02;

export const NODE_HEADER = 8;
/** Size of a reference to overflow pages: their first page, its transaction, and their number. */
const OVERFLOW_REFERENCE_BYTES = 24;

/** Number of pages to read ahead in sequential reads. */
const WINDOW_PAGES = 64;
/** Largest file that is read at once (32 MB): a separate read of every page takes longer than all checks. */
const MAX_PAGES_AT_ONCE = 8_192;

/**
 * The pages of a data file, each of which has one owner: a page that is reached twice is damage, and would be a loop.
 */
export class Pages {
  readonly meta: Meta;
  /** The use of each page reached so far. */
  readonly #uses: Uint8Array;
  /** The read-ahead window: pages from `#first` up to, not including, `#end`. */
  #window: Buffer;
  #first = 0;
  #end = 0;

  constructor(
    private readonly at: DataFile,
    meta: Meta,
  ) {
    this.meta = meta;
    this.#uses = new Uint8Array(meta.lastPage + 1);
    this.#window = Buffer.allocUnsafeSlow(WINDOW_PAGES * meta.pageSize);
  }

  /** Marks pages as used, and throws when they do not exist or are used already. */
  claim(first: number, count: number, use: number): void {
    const { lastPage } = this.meta;
    if (!(first >= META_PAGES && count >= 1 && first + count - 1 <= lastPage)) {
      throw new Error(`page ${first} is not one of the pages ${META_PAGES} to ${lastPage}`);
    }
    for (let page = first; page < first + count; page++) {
      if (this.#uses[page] !== UNUSED) throw new Error(`page ${page} is used twice`);
      this.#uses[page] = use;
    }
  }

  /** Reads pages and checks the header of the first. The bytes are valid until the next call. */
  read(page: number, count: number): Buffer {
    const bytes = this.#bytes(page, count);
    const found = number(bytes, 0);
    if (found !== page) throw new Error(`page ${page} says that it is page ${found}`);
    const transaction = number(bytes, 8);
    const { transaction: last } = this.meta;
    if (transaction > last)
      throw new Error(`page ${page} is of transaction ${transaction}, after the last one, ${last}`);
    return bytes;
  }

  #bytes(page: number, count: number): Buffer {
    const { pageSize } = this.meta;
    if (page < this.#first || page + count > this.#end) this.#load(page, count);
    const offset = (page - this.#first) * pageSize;
    return this.#window.subarray(offset, offset + count * pageSize);
  }

  #load(page: number, count: number): void {
    const { pageSize, lastPage } = this.meta;
    const inOrder = page === this.#end || page === this.#end + 1;
    const isSmall = lastPage < MAX_PAGES_AT_ONCE;
    const first = isSmall ? 0 : page;
    const wanted = isSmall ? lastPage + 1 : Math.max(count, inOrder ? WINDOW_PAGES : 1);
    if (this.#window.length < wanted * pageSize) this.#window = Buffer.allocUnsafeSlow(wanted * pageSize);
    const { file, start } = this.at;
    const length = readSync(file, this.#window, 0, wanted * pageSize, start + first * pageSize);
    this.#first = first;
    this.#end = first + Math.floor(length / pageSize);
    if (this.#end < page + count) throw new Error(`page ${page} is missing: the file is truncated`);
  }
}

export function flagsOf(bytes: Buffer): number {
  return bytes.readUInt16LE(18);
}

/**
 * Returns the number of nodes of a page, after checking its header and nodes: every node lies inside, and none overlaps
 * another.
 */
export function checkNodes(page: number, bytes: Buffer, kind: typeof BRANCH | typeof LEAF): number {
  const space = bytes.length - PAGE_HEADER;
  const lower = bytes.readUInt16LE(20);
  const upper = bytes.readUInt16LE(22);
  const count = lower >> 1;
  if (lower % 2 !== 0 || lower > upper || upper > space || count < (kind === BRANCH ? 2 : 1)) {
    throw new Error(`page ${page} has an invalid header`);
  }
  let used = 0;
  let end = space;
  let isPacked = true;
  for (let i = 0; i < count; i++) {
    const offset = bytes.readUInt16LE(PAGE_HEADER + 2 * i);
    if (offset < upper || offset % 2 !== 0 || offset + NODE_HEADER > space) throw invalidNode(page, i);
    const size = nodeBytes(bytes, PAGE_HEADER + offset, kind);
    if (offset + size > space) throw invalidNode(page, i);
    used += size;
    if (offset + size !== end) isPacked = false;
    end = offset;
  }
  if (used !== space - upper) throw new Error(`the nodes of page ${page} have ${used} bytes of ${space - upper}`);
  // Nodes added in order also lie in order.
  if (!isPacked) checkPacked(page, bytes, count, kind);
  return count;
}

/** Checks that nodes fill the end of a page without gaps, in any order. */
function checkPacked(page: number, bytes: Buffer, count: number, kind: number): void {
  let end = bytes.length - PAGE_HEADER;
  const offsets = Uint16Array.from({ length: count }, (_, i) => bytes.readUInt16LE(PAGE_HEADER + 2 * i));
  for (const offset of offsets.sort().reverse()) {
    if (offset + nodeBytes(bytes, PAGE_HEADER + offset, kind) !== end) {
      throw new Error(`the nodes of page ${page} overlap`);
    }
    end = offset;
  }
}

function nodeBytes(bytes: Buffer, node: number, kind: number): number {
  const key = bytes.readUInt16LE(node + 6);
  if (kind === BRANCH) return even(NODE_HEADER + key);
  const isElsewhere = bytes.readUInt16LE(node + 4) & ON_OVERFLOW_PAGES;
  return even(NODE_HEADER + key + (isElsewhere ? OVERFLOW_REFERENCE_BYTES : bytes.readUInt32LE(node)));
}

function even(size: number): number {
  return size + (size & 1);
}

function invalidNode(page: number, node: number): Error {
  return new Error(`node ${node} of page ${page} is invalid`);
}

/** Returns the offset of a node, which is stored relative to the end of the page's header. */
export function nodeAt(bytes: Buffer, index: number): number {
  return PAGE_HEADER + bytes.readUInt16LE(PAGE_HEADER + 2 * index);
}

export function keyOf(bytes: Buffer, node: number): Buffer {
  const start = node + NODE_HEADER;
  return bytes.subarray(start, start + bytes.readUInt16LE(node + 6));
}

/** Returns the page that a node of a branch points to: 48 bits in three parts. */
export function childOf(bytes: Buffer, node: number): number {
  return bytes.readUInt32LE(node) + bytes.readUInt16LE(node + 4) * 2 ** 32;
}
