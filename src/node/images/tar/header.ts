/** The header block of an entry: ustar, with the numbers of GNU tar that do not fit into octal digits. */
import { BLOCK_BYTES, type EntryHeader, TarError } from './entry.ts';

/** Header as in the archive; extended headers before it may override it. */
export interface RawHeader extends Omit<EntryHeader, 'type'> {
  readonly flag: string;
}

/** Position and length of the fields. */
const NAME = [0, 100] as const;
const MODE = [100, 8] as const;
const UID = [108, 8] as const;
const GID = [116, 8] as const;
const SIZE = [124, 12] as const;
const MTIME = [136, 12] as const;
const CHECKSUM = [148, 8] as const;
const FLAG = 156;
const LINK = [157, 100] as const;
const MAGIC = [257, 6] as const;
const PREFIX = [345, 155] as const;

type Field = readonly [start: number, length: number];

const PERMISSIONS = 0o7777;
/** Marks a number in base 256. */
const BINARY_MARK = 0x80;
const SPACE = 0x20;

export function decodeHeader(block: Buffer): RawHeader {
  if (readNumber(block, CHECKSUM) !== checksum(block))
    throw new TarError('this is not a tar archive, or it is damaged');
  const isUstar = text(block, MAGIC) === 'ustar';
  const prefix = isUstar ? text(block, PREFIX) : '';
  const name = text(block, NAME);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    mode: readNumber(block, MODE) & PERMISSIONS,
    uid: readNumber(block, UID),
    gid: readNumber(block, GID),
    size: readNumber(block, SIZE),
    mtime: readNumber(block, MTIME),
    flag: String.fromCharCode(block[FLAG]!),
    linkTarget: text(block, LINK),
  };
}

/** Encodes a header; undefined when a value does not fit, and needs an extended header. */
export function encodeHeader(header: RawHeader): Buffer | undefined {
  const block = Buffer.alloc(BLOCK_BYTES);
  const fits = [
    writeText(block, NAME, header.path),
    writeText(block, LINK, header.linkTarget),
    writeNumber(block, MODE, header.mode),
    writeNumber(block, UID, header.uid),
    writeNumber(block, GID, header.gid),
    writeNumber(block, SIZE, header.size),
    writeNumber(block, MTIME, header.mtime),
  ];
  if (fits.includes(false)) return undefined;
  block.write(header.flag, FLAG, 'latin1');
  block.write('ustar\u000000', MAGIC[0], 'latin1');
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, CHECKSUM[0], 'latin1');
  return block;
}

function text(block: Buffer, [start, length]: Field): string {
  const end = block.indexOf(0, start);
  return block.toString('utf8', start, end < 0 || end > start + length ? start + length : end);
}

function readNumber(block: Buffer, [start, length]: Field): number {
  if ((block[start]! & BINARY_MARK) !== 0) return readBinary(block, start, length);
  const digits = block
    .toString('latin1', start, start + length)
    .replace(/\0.*$/s, '')
    .trim();
  if (!/^[0-7]*$/.test(digits)) throw new TarError('this is not a tar archive, or it is damaged');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function readBinary(block: Buffer, start: number, length: number): number {
  let value = block[start]! & 0x7f;
  for (let at = start + 1; at < start + length; at++) value = value * 256 + block[at]!;
  if (!Number.isSafeInteger(value)) throw new TarError('a number in the tar archive is too large');
  return value;
}

function writeText(block: Buffer, [start, length]: Field, value: string): boolean {
  if (Buffer.byteLength(value) > length) return false;
  block.write(value, start, 'utf8');
  return true;
}

function writeNumber(block: Buffer, [start, length]: Field, value: number): boolean {
  const digits = value.toString(8);
  if (!Number.isSafeInteger(value) || value < 0 || digits.length > length - 1) return false;
  block.write(digits.padStart(length - 1, '0'), start, 'latin1');
  return true;
}

/** The sum of all bytes, where those of the checksum count as spaces. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK_BYTES; at++) {
    const isOwn = at >= CHECKSUM[0] && at < CHECKSUM[0] + CHECKSUM[1];
    sum += isOwn ? SPACE : block[at]!;
  }
  return sum;
}

export type PaxRecords = ReadonlyMap<string, string>;

/** The records that are used. Others are left out: an archive of a few megabytes can have gigabytes of them. */
const KNOWN: ReadonlySet<string> = new Set(['path', 'linkpath', 'size', 'uid', 'gid', 'mtime', 'GNU.sparse.major']);

/** Records of PAX headers: `LENGTH KEY=VALUE\n`, where the length counts the whole record. */
export function decodePax(body: Buffer): PaxRecords {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(' ', at);
    const length = space < 0 ? Number.NaN : Number(body.toString('latin1', at, space));
    const end = at + length;
    if (!Number.isInteger(length) || end > body.length || end <= space + 1) {
      throw new TarError('an extended header of the tar archive is damaged');
    }
    const record = body.toString('utf8', space + 1, end - 1);
    const equals = record.indexOf('=');
    const key = record.slice(0, Math.max(0, equals));
    if (KNOWN.has(key)) records.set(key, record.slice(equals + 1));
    at = end;
  }
  return records;
}

export function encodePax(records: PaxRecords): Buffer {
  return Buffer.concat([...records].map(([key, value]) => encodeRecord(key, value)));
}

function encodeRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  // The length counts its own digits, too.
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
