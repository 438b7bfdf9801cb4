import { fstatSync } from 'node:fs';
import { type Meta, number, readTree, TREE_BYTES, type Tree } from './meta.ts';
import { type DataFile, FREE, IS_TREE, Pages } from './page.ts';
import { type TreeRules, type Visit, walkTree } from './tree.ts';

/** The tables of the file. */
export type Tables = Readonly<Record<string, Table>>;

interface Table {
  readonly flags: number;
  /** Receives the entries of the table, in order. */
  readonly visit: Visit;
}

/** LMDB's flag for tables whose values begin with a version. */
export const VERSIONED = 0x100;

/**
 * Limit for pages missing at the end: the file may be shorter than its last page says, when the last pages are free.
 */
const MAX_MISSING_PAGES = 65_536;

const TABLES: TreeRules = { nodeFlags: IS_TREE, compare: Buffer.compare };
const TABLE: TreeRules = { nodeFlags: 0, compare: Buffer.compare };
/** The rules of the free-page tree: transaction numbers in the byte order of the machine. */
const FREE_LISTS: TreeRules = { nodeFlags: 0, compare: (a, b) => transaction(a) - transaction(b) };

/**
 * Checks every page that LMDB may read or write, and visits the entries of the tables in the order of `tables`. Throws
 * at the first damage: then nothing in the file can be trusted.
 */
export function checkStructure(at: DataFile, meta: Meta, tables: Tables): void {
  const steps = structureSteps(at, meta, tables);
  while (!steps.next().done);
}

/** Does the same, and yields before each page. */
export function* structureSteps(at: DataFile, meta: Meta, tables: Tables): Generator<void> {
  checkLength(at, meta);
  const pages = new Pages(at, meta);
  const trees = new Map<string, Tree>();
  yield* walkTree(pages, meta.main, TABLES, (key, value) => {
    // The name has a trailing zero.
    const name = key.toString('latin1', 0, key.length - 1);
    if (key.at(-1) !== 0 || !Object.hasOwn(tables, name))
      throw new Error(`there is an unknown table ${JSON.stringify(name)}`);
    if (value.length !== TREE_BYTES) throw new Error(`the table ${name} has an invalid description`);
    const tree = readTree(value, 0);
    if (tree.flags !== tables[name]?.flags) throw new Error(`the table ${name} has the flags ${tree.flags}`);
    trees.set(name, tree);
  });
  for (const [name, { visit }] of Object.entries(tables)) {
    const tree = trees.get(name);
    if (tree) yield* walkTree(pages, tree, TABLE, visit);
  }
  // Free pages are checked when all pages in use are known.
  yield* walkTree(pages, meta.free, FREE_LISTS, (_, row) => checkFreePages(pages, row));
}

/** Throws when the file is far too short for the pages in use. */
export function checkLength(at: DataFile, meta: Meta): void {
  const { lastPage, pageSize } = meta;
  const filePages = Math.floor((fstatSync(at.file).size - at.start) / pageSize);
  if (lastPage > filePages + MAX_MISSING_PAGES) {
    throw new Error(`the file has ${filePages} pages, and page ${lastPage} in use: it is truncated`);
  }
}

function transaction(key: Buffer): number {
  if (key.length !== 8) throw new Error('the list of free pages has an invalid key');
  return number(key, 0);
}

const ENTRY_BYTES = 8;

/**
 * Checks a row of the free-page tree: the number of entries, then page numbers. A negative entry is the length of a
 * block of pages that begins with the next entry; zeros are gaps. LMDB writes new data to these pages: a page still in
 * use would be overwritten.
 */
function checkFreePages(pages: Pages, row: Buffer): void {
  const count = row.length < ENTRY_BYTES ? Number.NaN : number(row, 0);
  if (!((count + 1) * ENTRY_BYTES <= row.length)) throw new Error('the list of free pages has an invalid length');
  for (let i = 1; i <= count; i++) {
    const entry = signed(row, i * ENTRY_BYTES);
    if (entry === 0) continue;
    if (entry > 0) {
      pages.claim(entry, 1, FREE);
      continue;
    }
    i++;
    if (i > count) throw new Error('the list of free pages ends with the length of a block');
    pages.claim(signed(row, i * ENTRY_BYTES), -entry, FREE);
  }
}

function signed(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readInt32LE(offset + 4) * 2 ** 32;
}
