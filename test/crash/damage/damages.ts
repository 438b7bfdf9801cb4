/** Ways to damage a data file. Each changes the bytes of a whole file, and reports its change. */
import type { Dice } from '../random.ts';

export interface Original {
  /** The data file of a store that was stopped. */
  readonly bytes: Buffer;
  /** File some writes earlier, for pages whose last write was lost. */
  readonly earlier: Buffer;
}

interface Damaged {
  readonly bytes: Buffer;
  readonly what: string;
}

type Damage = (original: Original, next: Dice) => Damaged;

const PAGE = 4096;
const META_PAGES = 2;
const SECTOR = 512;
const PAGE_HEADER = 24;
const META_FIELDS = 168;
const POINTERS = 200;

export const damages: Readonly<Record<string, Damage>> = {
  'a bit anywhere': (original, next) => flip(original, next(original.bytes.length), next),
  'a byte of a page header': (original, next) =>
    flip(original, somePage(original, next) * PAGE + next(PAGE_HEADER), next),
  'a byte of a node pointer': (original, next) =>
    flip(original, somePage(original, next) * PAGE + PAGE_HEADER + next(POINTERS), next),
  'a byte of a meta page': (original, next) => flip(original, next(META_PAGES) * PAGE + next(META_FIELDS), next),
  'a byte of a value': (original, next) => flip(original, find(original.bytes, 'value-', next) + next(200), next),
  'a byte of a key': (original, next) => flip(original, find(original.bytes, '/registry/', next) + next(30), next),
  'a blank page': (original, next) => fill(original, somePage(original, next) * PAGE, PAGE, () => 0),
  'a blank meta page': (original, next) => fill(original, next(META_PAGES) * PAGE, PAGE, () => 0),
  'a blank sector': (original, next) => fill(original, sectorOf(original, next), SECTOR, () => 0),
  'a page of garbage': (original, next) => fill(original, somePage(original, next) * PAGE, PAGE, () => next(256)),
  'a truncated file': ({ bytes }, next) => {
    const length = next(4) === 0 ? next(bytes.length) : next(bytes.length / PAGE) * PAGE;
    return { bytes: Buffer.from(bytes.subarray(0, length)), what: `truncated to ${length} of ${bytes.length} bytes` };
  },
  'an empty file': () => ({ bytes: Buffer.alloc(0), what: 'truncated to nothing' }),
  'two swapped pages': (original, next) => {
    const [a, b] = [somePage(original, next), somePage(original, next)];
    const bytes = Buffer.from(original.bytes);
    original.bytes.copy(bytes, a * PAGE, b * PAGE, (b + 1) * PAGE);
    original.bytes.copy(bytes, b * PAGE, a * PAGE, (a + 1) * PAGE);
    return { bytes, what: `swapped the pages ${a} and ${b}` };
  },
  'a page in two places': (original, next) => {
    const [from, to] = [somePage(original, next), somePage(original, next)];
    const bytes = Buffer.from(original.bytes);
    original.bytes.copy(bytes, to * PAGE, from * PAGE, (from + 1) * PAGE);
    return { bytes, what: `wrote page ${from} over page ${to}` };
  },
  'a garbage tail': ({ bytes }, next) => {
    const tail = Buffer.from(Array.from({ length: 1 + next(3 * PAGE) }, () => next(256)));
    return { bytes: Buffer.concat([bytes, tail]), what: `appended ${tail.length} bytes` };
  },
  'a lost write of a page': ({ bytes: original, earlier }, next) => {
    const changed = pagesOf(earlier).filter(
      (page) => !samePage(original, earlier, page) && original.length >= (page + 1) * PAGE,
    );
    const page = changed[next(changed.length)] as number;
    const bytes = Buffer.from(original);
    earlier.copy(bytes, page * PAGE, page * PAGE, (page + 1) * PAGE);
    return { bytes, what: `put back what page ${page} was before` };
  },
};

function flip({ bytes: original }: Original, offset: number, next: Dice): Damaged {
  const bytes = Buffer.from(original);
  const at = Math.min(offset, bytes.length - 1);
  bytes[at] = (bytes[at] as number) ^ (next(2) === 0 ? 1 << next(8) : 1 + next(255));
  const what = `byte ${at} (page ${Math.floor(at / PAGE)}, offset ${at % PAGE}): ${original[at]} became ${bytes[at]}`;
  return { bytes, what };
}

function fill({ bytes: original }: Original, start: number, length: number, value: () => number): Damaged {
  const bytes = Buffer.from(original);
  for (let i = start; i < Math.min(start + length, bytes.length); i++) bytes[i] = value();
  return { bytes, what: `overwrote ${length} bytes at ${start} (page ${Math.floor(start / PAGE)})` };
}

function somePage({ bytes }: Original, next: Dice): number {
  return META_PAGES + next(Math.floor(bytes.length / PAGE) - META_PAGES);
}

function sectorOf({ bytes }: Original, next: Dice): number {
  return next(Math.floor(bytes.length / SECTOR)) * SECTOR;
}

function find(bytes: Buffer, text: string, next: Dice): number {
  const found = bytes.indexOf(text, next(bytes.length));
  return found >= 0 ? found : bytes.indexOf(text);
}

/** Returns the pages except for the meta pages: a lost one is the end of a transaction that was never committed. */
function pagesOf(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / PAGE) - META_PAGES }, (_, i) => i + META_PAGES);
}

function samePage(a: Buffer, b: Buffer, page: number): boolean {
  return a.subarray(page * PAGE, (page + 1) * PAGE).equals(b.subarray(page * PAGE, (page + 1) * PAGE));
}
