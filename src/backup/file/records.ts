/** The encoding of rows and changes: numbers of fixed length, then key, value and origin with their lengths. */
import type { HistoryRecord, SavedRow } from './content.ts';
import { BackupDamaged } from './format.ts';

const TYPES = ['row', 'write', 'deletion'] as const;

interface RawRecord {
  readonly type: (typeof TYPES)[number];
  readonly key: string;
  readonly revision: number;
  readonly replaced: number;
  readonly time: number;
  readonly value: Buffer;
  readonly origin: object | undefined;
}

/** Type, lengths of key, value and origin, revision, replaced revision, time. */
const FIXED_BYTES = 1 + 3 * 4 + 3 * 8;
const NOTHING = Buffer.alloc(0);
/** Lengths of numbers that JavaScript represents. */
const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

export function encodeRow({ key, revision, value }: SavedRow): readonly Buffer[] {
  return encode({ type: 'row', key, revision, replaced: 0, time: 0, value, origin: undefined });
}

export function encodeHistory(record: HistoryRecord): readonly Buffer[] {
  if (record.type === 'earlier') return encodeRow(record.row);
  const { value, ...change } = record.change;
  return encode({ ...change, type: value ? 'write' : 'deletion', value: value ?? NOTHING });
}

/** Decodes a block of rows. Throws BackupDamaged. */
export function decodeRows(content: Buffer): SavedRow[] {
  return decode(content).map((record) => {
    if (record.type !== 'row') throw new BackupDamaged(`the backup is damaged: a ${record.type} stands among objects`);
    return rowOf(record);
  });
}

/** Decodes a block of history. Throws BackupDamaged. */
export function decodeHistory(content: Buffer): HistoryRecord[] {
  return decode(content).map((record) => {
    if (record.type === 'row') return { type: 'earlier', row: rowOf(record) };
    const { type, key, revision, replaced, time, origin, value } = record;
    const written = type === 'deletion' ? null : value;
    return { type: 'change', change: { key, revision, replaced, time, origin, value: written } };
  });
}

const rowOf = ({ key, revision, value }: RawRecord): SavedRow => ({ key, revision, value });

function encode({ type, key, revision, replaced, time, value, origin }: RawRecord): readonly Buffer[] {
  const originBytes = origin === undefined ? NOTHING : Buffer.from(JSON.stringify(origin));
  const keyBytes = Buffer.byteLength(key);
  const head = Buffer.allocUnsafe(FIXED_BYTES + keyBytes);
  head.writeUInt8(TYPES.indexOf(type), 0);
  head.writeUInt32BE(keyBytes, 1);
  head.writeUInt32BE(value.length, 5);
  head.writeUInt32BE(originBytes.length, 9);
  head.writeBigUInt64BE(BigInt(revision), 13);
  head.writeBigUInt64BE(BigInt(replaced), 21);
  head.writeBigUInt64BE(BigInt(Math.max(0, Math.round(time))), 29);
  head.write(key, FIXED_BYTES);
  return [head, value, originBytes];
}

function decode(content: Buffer): RawRecord[] {
  const records: RawRecord[] = [];
  for (let at = 0; at < content.length; ) {
    const left = content.length - at;
    if (left < FIXED_BYTES) throw damaged(`a record has ${left} bytes`);
    const type = TYPES[content.readUInt8(at)];
    const [keyBytes, valueBytes, originBytes] = [1, 5, 9].map((offset) => content.readUInt32BE(at + offset)) as [
      number,
      number,
      number,
    ];
    if (!type) throw damaged(`a record has the unknown type ${content.readUInt8(at)}`);
    if (FIXED_BYTES + keyBytes + valueBytes + originBytes > left) throw damaged('a record is longer than its block');
    if (keyBytes === 0) throw damaged('a record has no key');
    const start = at + FIXED_BYTES;
    const valueStart = start + keyBytes;
    const originStart = valueStart + valueBytes;
    const end = originStart + originBytes;
    records.push({
      type,
      key: content.toString('utf8', start, valueStart),
      revision: numberAt(content, at + 13),
      replaced: numberAt(content, at + 21),
      time: numberAt(content, at + 29),
      value: content.subarray(valueStart, originStart),
      origin: originBytes === 0 ? undefined : originIn(content.toString('utf8', originStart, end)),
    });
    at = end;
  }
  return records;
}

function numberAt(content: Buffer, at: number): number {
  const number = content.readBigUInt64BE(at);
  if (number > MAX_NUMBER) throw damaged(`a record has the number ${number}`);
  return Number(number);
}

function originIn(text: string): object {
  try {
    const origin: unknown = JSON.parse(text);
    if (origin !== null && typeof origin === 'object') return origin;
  } catch {
    // As below.
  }
  throw damaged('a record names no origin');
}

const damaged = (problem: string) => new BackupDamaged(`the backup is damaged: ${problem}`);
