import { crc32 } from 'node:zlib';

/**
 * The layout on disk. Numbers are big-endian, so that the order of keys is the order of revisions.
 *
 * `log` holds every change that is still needed, by position: the value, and the position of the key's previous change.
 * `index` holds, for every key, the position of its newest change; a deleted key stays until its deletion is discarded.
 * `meta` has one row, the state.
 *
 * A value is written once: replacing it changes the index, and trimming deletes the replaced record.
 */
export const FORMAT = 1;

/** LMDB's limit with pages of 4 KiB. */
export const MAX_KEY_BYTES = 1978;

/** A position has 16 bits for the index, and a commit may have one more record for its origin. */
export const MAX_WRITES = 65_535;

/** The position of a change in the log: its revision, and its index among the writes of that revision. */
export interface Position {
  readonly revision: number;
  readonly index: number;
}

export const POSITION_BYTES = 8;

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

/** The row of a key in the index. */
export interface Entry extends Position {
  readonly deleted: boolean;
  /** The size of the record at that position. */
  readonly bytes: number;
}

export const ENTRY_BYTES = 13;

export function encodeEntry(entry: Entry): Buffer {
  const bytes = Buffer.allocUnsafe(ENTRY_BYTES);
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

/** A change in the log. */
export interface LogRecord {
  readonly key: string;
  /** The new value; null for a deletion. */
  readonly value: Buffer | null;
  /** Time of the commit: milliseconds since the epoch. */
  readonly time: number;
  /** Position of the key's previous change; undefined when there was none, or it was discarded. */
  readonly link: Position | undefined;
  /** True when the change created the key: it had no previous change, or that was a deletion. */
  readonly created: boolean;
  /** Bytes freed by discarding this change: the replaced record, and the record itself when it is a deletion. */
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

/** Encodes a record into `bytes`, whose length must be recordBytes(). */
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

/** Decodes an intact record. */
export function decodeRecord(bytes: Buffer): LogRecord {
  return {
    key: keyIn(bytes),
    value: valueIn(bytes),
    time: bytes.readUIntBE(TIME, 6),
    link: linkIn(bytes),
    created: isCreation(bytes),
    frees: bytes.readUInt32BE(FREES),
  };
}

/** Returns the key of an encoded record. */
export function keyIn(bytes: Buffer): string {
  return bytes.toString('utf8', HEADER, HEADER + bytes.readUInt16BE(KEY_LENGTH));
}

export function isDeletion(bytes: Buffer): boolean {
  return (bytes.readUInt8(FLAGS) & DELETED) !== 0;
}

export function isCreation(bytes: Buffer): boolean {
  return (bytes.readUInt8(FLAGS) & CREATED) !== 0;
}

/** Returns the value of an encoded record, sharing its memory. */
export function valueIn(bytes: Buffer): Buffer | null {
  if (isDeletion(bytes)) return null;
  return bytes.subarray(HEADER + bytes.readUInt16BE(KEY_LENGTH));
}

export function linkIn(bytes: Buffer): Position | undefined {
  return bytes.readUInt8(FLAGS) & LINKED ? readPosition(bytes, LINK) : undefined;
}

/** Reports whether the checksum of a record matches. Must be checked before reading anything else from a record. */
export function isIntact(bytes: Buffer): boolean {
  return bytes.length >= HEADER && bytes.readUInt32BE(CHECKSUM) === crc32(bytes.subarray(FLAGS));
}

/** Returns the size of an encoded record. */
export function recordBytes(key: string, value: Buffer | null): number {
  return HEADER + Buffer.byteLength(key) + (value?.length ?? 0);
}

export interface State {
  /** The newest revision on disk. */
  readonly revision: number;
  /** The oldest revision that can still be read. */
  readonly compacted: number;
  /** Size of the data that only history needs: replaced records and deletions after `compacted`. */
  readonly historyBytes: number;
}

/**
 * The state of an empty store. The revision is 1 before the first commit, as in etcd, because 0 means "any" to API
 * clients.
 */
export const EMPTY: State = { revision: 1, compacted: 0, historyBytes: 0 };

const STATE_BYTES = 18;
const CHECKSUM_BYTES = 4;

/** lmdb writes a version before the values of `meta`. */
export const VERSION_BYTES = 8;

export function encodeState({ revision, compacted, historyBytes }: State): Buffer {
  const bytes = Buffer.allocUnsafe(STATE_BYTES + CHECKSUM_BYTES);
  bytes.writeUIntBE(revision, 0, 6);
  bytes.writeUIntBE(compacted, 6, 6);
  bytes.writeUIntBE(historyBytes, 12, 6);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, STATE_BYTES)), STATE_BYTES);
  return bytes;
}

/** Decodes the state; undefined when it is damaged. */
export function decodeState(bytes: Buffer): State | undefined {
  if (bytes.length !== STATE_BYTES + CHECKSUM_BYTES) return undefined;
  if (bytes.readUInt32BE(STATE_BYTES) !== crc32(bytes.subarray(0, STATE_BYTES))) return undefined;
  return {
    revision: bytes.readUIntBE(0, 6),
    compacted: bytes.readUIntBE(6, 6),
    historyBytes: bytes.readUIntBE(12, 6),
  };
}
