import { number } from './meta.ts';
import { FREE, type Pages } from './page.ts';

const ENTRY_BYTES = 8;

/**
 * Checks a row of the free-page tree: the number of entries, then page numbers. A negative entry is the length of a
 * block of pages that begins with the next entry; zeros are gaps. LMDB writes new data to these pages: a page still in
 * use would be overwritten.
 */
export function checkFreePages(pages: Pages, row: Buffer): void {
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
