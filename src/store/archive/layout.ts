import { crc32 } from 'node:zlib';

/**
 * The layout on disk. Numbers are big-endian, so that the order of keys is the order of revisions.
 *
 * `log` holds every version that can still be read, by position. `index` holds the positions by key, the newest first. `origins` holds
 * who asked, by the position of the first change that refers to it. `meta` has one row, the state.
 */
export const ARCHIVE_FORMAT = 1;

/** A revision, and the place among the records of that revision. */
export interface Place {
  readonly revision: number;
  readonly index: number;
}

const PLACE_BYTES = 8;

/** Number of records that one revision may have. */
export const MAX_INDEX = 65_535;

export function encodePlace({ revision, index }: Place): Buffer {
  const bytes = Buffer.allocUnsafe(PLACE_BYTES);
  bytes.writeUIntBE(revision, 0, 6);
  bytes.writeUInt16BE(index, 6);
  return bytes;
}

export function decodePlace(bytes: Buffer, offset = 0): Place {
  return { revision: bytes.readUIntBE(offset, 6), index: bytes.readUInt16BE(offset + 6) };
}

/** A version of a key, and the change that wrote it. */
export interface VersionRecord {
  readonly key: string;
  /** Null for a deletion. */
  readonly value: Buffer | null;
  /** Time of the change, in milliseconds since the epoch. */
  readonly time: number;
  /** The revision of the version before it; 0: none. */
  readonly replaced: number;
  /** Where its origin is; undefined: unknown. */
  readonly origin: Place | undefined;
  /** ID of the request. */
  readonly request: string | undefined;
  /** True when the change is not known, only the version that it wrote. */
  readonly isBase: boolean;
}

const DELETED = 1;
const BASE = 2;
const WITH_ORIGIN = 4;
const WITH_REQUEST = 8;

const CHECKSUM = 0;
const FLAGS = 4;
const TIME = 5;
const REPLACED = 11;
const ORIGIN = 17;
const REQUEST_LENGTH = 25;
const KEY_LENGTH = 26;
const HEADER = 28;

const MAX_REQUEST_BYTES = 255;

/** Returns the size of an encoded version. */
export function versionBytes({ key, value, request }: VersionRecord): number {
  return HEADER + requestBytes(request) + Buffer.byteLength(key) + (value?.length ?? 0);
}

function requestBytes(request: string | undefined): number {
  const bytes = request === undefined ? 0 : Buffer.byteLength(request);
  return bytes > MAX_REQUEST_BYTES ? 0 : bytes;
}

/** Encodes a version into `bytes`, whose length must be versionBytes(). */
export function encodeVersion(version: VersionRecord, bytes: Buffer): void {
  const { key, value, time, replaced, origin, request, isBase } = version;
  const keyAt = HEADER + requestBytes(request);
  const valueAt = bytes.length - (value?.length ?? 0);
  bytes[FLAGS] =
    (value === null ? DELETED : 0) |
    (isBase ? BASE : 0) |
    (origin ? WITH_ORIGIN : 0) |
    (keyAt > HEADER ? WITH_REQUEST : 0);
  bytes.writeUIntBE(time, TIME, 6);
  bytes.writeUIntBE(replaced, REPLACED, 6);
  bytes.writeUIntBE(origin?.revision ?? 0, ORIGIN, 6);
  bytes.writeUInt16BE(origin?.index ?? 0, ORIGIN + 6);
  bytes[REQUEST_LENGTH] = keyAt - HEADER;
  bytes.writeUInt16BE(valueAt - keyAt, KEY_LENGTH);
  if (keyAt > HEADER) bytes.write(request as string, HEADER);
  bytes.write(key, keyAt);
  if (value) bytes.set(value, valueAt);
  bytes.writeUInt32BE(crc32(bytes.subarray(FLAGS)), CHECKSUM);
}

/** Returns undefined when the checksum does not match. */
export function decodeVersion(bytes: Buffer): VersionRecord | undefined {
  if (bytes.length < HEADER || bytes.readUInt32BE(CHECKSUM) !== crc32(bytes.subarray(FLAGS))) return undefined;
  const flags = bytes.readUInt8(FLAGS);
  const keyAt = HEADER + bytes.readUInt8(REQUEST_LENGTH);
  const valueAt = keyAt + bytes.readUInt16BE(KEY_LENGTH);
  return {
    key: bytes.toString('utf8', keyAt, valueAt),
    value: flags & DELETED ? null : bytes.subarray(valueAt),
    time: bytes.readUIntBE(TIME, 6),
    replaced: bytes.readUIntBE(REPLACED, 6),
    origin: flags & WITH_ORIGIN ? decodePlace(bytes, ORIGIN) : undefined,
    request: flags & WITH_REQUEST ? bytes.toString('utf8', HEADER, keyAt) : undefined,
    isBase: (flags & BASE) !== 0,
  };
}

/** The key of a version in the index: the key, a zero, and what is left of the largest revision. */
const NEWEST = 2 ** 48 - 1;
const SUFFIX_BYTES = 7;
const LMDB_KEY_BYTES = 1978;

export const MAX_KEY_BYTES = LMDB_KEY_BYTES - SUFFIX_BYTES;

/** Returns the index key of the newest version up to a revision, or of the next older one. */
export function indexKey(key: string, revision: number): Buffer {
  const length = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(length + SUFFIX_BYTES);
  bytes.write(key);
  bytes[length] = 0;
  bytes.writeUIntBE(NEWEST - revision, length + 1, 6);
  return bytes;
}

/** Returns the first index key after all versions of a key. */
export function indexEnd(key: string): Buffer {
  return Buffer.from(`${key}\x01`);
}

export function keyOfIndex(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - SUFFIX_BYTES);
}

export function revisionOfIndex(bytes: Buffer): number {
  return NEWEST - bytes.readUIntBE(bytes.length - 6, 6);
}

/** The row of a version in the index. */
export interface IndexEntry {
  readonly index: number;
  readonly isDeletion: boolean;
}

export function encodeEntry({ index, isDeletion }: IndexEntry): Buffer {
  const bytes = Buffer.allocUnsafe(3);
  bytes[0] = isDeletion ? DELETED : 0;
  bytes.writeUInt16BE(index, 1);
  return bytes;
}

export function decodeEntry(bytes: Buffer): IndexEntry {
  return { index: bytes.readUInt16BE(1), isDeletion: (bytes.readUInt8(0) & DELETED) !== 0 };
}

/** The archive as of its last write. Times are in milliseconds since the epoch. */
export interface ArchiveState {
  /** Everything up to this revision is recorded. */
  readonly position: number;
  readonly positionTime: number;
  /** The oldest state that can be read. */
  readonly oldest: number;
  readonly oldestTime: number;
  /** False until the first state of the store has been copied. */
  readonly isComplete: boolean;
}

export const EMPTY_ARCHIVE: ArchiveState = {
  position: 0,
  positionTime: 0,
  oldest: 0,
  oldestTime: 0,
  isComplete: false,
};

export function encodeState(state: ArchiveState): Buffer {
  const text = Buffer.from(JSON.stringify(state));
  const bytes = Buffer.allocUnsafe(text.length + 4);
  bytes.writeUInt32BE(crc32(text), 0);
  text.copy(bytes, 4);
  return bytes;
}

/** Returns undefined when the state is damaged. */
export function decodeState(bytes: Buffer): ArchiveState | undefined {
  if (bytes.length < 4 || bytes.readUInt32BE(0) !== crc32(bytes.subarray(4))) return undefined;
  return JSON.parse(bytes.toString('utf8', 4)) as ArchiveState;
}
