import { crc32 } from 'node:zlib';

/**
 * The bytes on disk. Numbers are big-endian, so that the order of keys is the order of revisions.
 *
 * `log` holds every change that is still needed, by position: what was written, and where the key's previous change is.
 * `index` holds, for every key, the position of its newest change; a deleted key stays until its deletion is forgotten.
 * `meta` holds one row, the state.
 *
 * A value is written once: replacing it moves the index on, and trimming deletes the replaced record.
 */
export const FORMAT = 1;

/** LMDB's own limit with pages of 4 KiB. */
export const LONGEST_KEY = 1978;

/** A position has 16 bits for the index. */
export const MOST_WRITES = 65_536;

/** Where a change stands in the log: its revision, and its place among the writes of that revision. */
export interface Position {
  readonly revision: number;
  readonly index: number;
}

const POSITION_BYTES = 8;

function writePosition(target: Buffer, offset: number, { revision, index }: Position): void {
  target.writeUIntBE(revision, offset, 6);
  target.writeUInt16BE(index, offset + 6);
}

export function readPosition(source: Buffer, offset: number): Position {
  return { revision: source.readUIntBE(offset, 6), index: source.readUInt16BE(offset + 6) };
}

export function encodePosition(position: Position): Buffer {
  const bytes = Buffer.allocUnsafe(POSITION_BYTES);
  writePosition(bytes, 0, position);
  return bytes;
}

/** What the index says about a key. */
export interface Entry extends Position {
  readonly deleted: boolean;
  /** The size of the record at that position. */
  readonly bytes: number;
}

export function encodeEntry(entry: Entry): Buffer {
  const bytes = Buffer.allocUnsafe(13);
  writePosition(bytes, 0, entry);
  bytes.writeUInt8(entry.deleted ? 1 : 0, 8);
  bytes.writeUInt32BE(entry.bytes, 9);
  return bytes;
}

export function decodeEntry(bytes: Buffer): Entry {
  return {
    revision: bytes.readUIntBE(0, 6),
    index: bytes.readUInt16BE(6),
    deleted: bytes.readUInt8(8) === 1,
    bytes: bytes.readUInt32BE(9),
  };
}

/** One change in the log. */
export interface LogRecord {
  readonly key: string;
  /** null: deleted. */
  readonly value: Buffer | null;
  /** Milliseconds since the epoch at which it was made. */
  readonly time: number;
  /** The key's change before this one; undefined when there was none, or it is forgotten. */
  readonly link: Position | undefined;
  /** Whether the key came to be: there was no change before, or that was a deletion. */
  readonly created: boolean;
  /** What forgetting this change sets free: the size of the replaced record, and its own when it is a deletion. */
  readonly frees: number;
}

const DELETED = 1;
const CREATED = 2;
const LINKED = 4;

const CHECKSUM = 0;
const FLAGS = 4;
const TIME = 5;
const LINK = 11;
const FREES = 19;
const KEY_LENGTH = 23;
const HEADER = 25;

/** Fills `bytes`, which are as many as recordBytes() says. */
export function encodeRecord(record: LogRecord, bytes: Buffer): void {
  const { key, value, link } = record;
  const keyLength = bytes.length - HEADER - (value?.length ?? 0);
  bytes[FLAGS] = (value === null ? DELETED : 0) | (record.created ? CREATED : 0) | (link ? LINKED : 0);
  bytes.writeUIntBE(record.time, TIME, 6);
  writePosition(bytes, LINK, link ?? { revision: 0, index: 0 });
  bytes.writeUInt32BE(record.frees, FREES);
  bytes.writeUInt16BE(keyLength, KEY_LENGTH);
  bytes.write(key, HEADER);
  if (value) bytes.set(value, HEADER + keyLength);
  bytes.writeUInt32BE(crc32(bytes.subarray(FLAGS)), CHECKSUM);
}

export function decodeRecord(bytes: Buffer): LogRecord {
  const flags = bytes.readUInt8(FLAGS);
  return {
    key: bytes.toString('utf8', HEADER, HEADER + bytes.readUInt16BE(KEY_LENGTH)),
    value: valueIn(bytes),
    time: bytes.readUIntBE(TIME, 6),
    link: linkIn(bytes),
    created: (flags & CREATED) !== 0,
    frees: bytes.readUInt32BE(FREES),
  };
}

/** The value of an encoded record alone. It shares its memory. */
export function valueIn(bytes: Buffer): Buffer | null {
  if (bytes.readUInt8(FLAGS) & DELETED) return null;
  return bytes.subarray(HEADER + bytes.readUInt16BE(KEY_LENGTH));
}

export function linkIn(bytes: Buffer): Position | undefined {
  return bytes.readUInt8(FLAGS) & LINKED ? readPosition(bytes, LINK) : undefined;
}

/** Whether the record is the one that was written. Asked where a file may be torn, not on every read. */
export function isWhole(bytes: Buffer): boolean {
  return bytes.length >= HEADER && bytes.readUInt32BE(CHECKSUM) === crc32(bytes.subarray(FLAGS));
}

/** The size of a record, known before it is made. */
export function recordBytes(key: string, value: Buffer | null): number {
  return HEADER + Buffer.byteLength(key) + (value?.length ?? 0);
}

export interface State {
  /** The newest revision on disk. */
  readonly revision: number;
  /** The oldest revision that may still be asked for. */
  readonly compacted: number;
  /** What history alone holds: replaced records and deletions behind `compacted`. */
  readonly historyBytes: number;
}

/** Before the first commit the revision is 1, as in etcd: 0 means "any" to API clients. */
export const EMPTY: State = { revision: 1, compacted: 0, historyBytes: 0 };

export function encodeState({ revision, compacted, historyBytes }: State): Buffer {
  const bytes = Buffer.allocUnsafe(18);
  bytes.writeUIntBE(revision, 0, 6);
  bytes.writeUIntBE(compacted, 6, 6);
  bytes.writeUIntBE(historyBytes, 12, 6);
  return bytes;
}

export function decodeState(bytes: Buffer): State {
  return {
    revision: bytes.readUIntBE(0, 6),
    compacted: bytes.readUIntBE(6, 6),
    historyBytes: bytes.readUIntBE(12, 6),
  };
}
