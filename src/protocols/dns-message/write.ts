/** Writes messages with compressed names, up to a maximum size. */
import { Flag, HEADER_BYTES, RecordType, ResponseCode } from './codes.ts';
import type { Response } from './message.ts';
import { NameReader, splitName, writeLabel } from './name.ts';
import type { ResourceRecord } from './record.ts';
import { isOneName } from './record-data.ts';

export interface MessageParts extends Omit<Response, 'question'> {
  /** The flags without the response code. */
  readonly flags: number;
  readonly questionName: string;
  /** Maximum size of UDP messages that this server accepts; undefined for a message without an OPT record. */
  readonly edns: { readonly udpSize: number; readonly dnssecOk: boolean } | undefined;
}

const OPT_BYTES = 11;
const MAX_POINTER = 0x3fff;
const POINTER_BITS = 0xc000;
const MAX_MESSAGE_BYTES = 65_535;
/** Maximum size of a record without its data: two names and the fixed part. */
const MAX_RECORD_HEAD_BYTES = 1_024;
/**
 * The message under construction. It has room for one record beyond the maximum, so a record is written first and its
 * size checked afterwards. The content is copied when it is complete.
 */
const scratch = Buffer.allocUnsafe(2 * MAX_MESSAGE_BYTES + MAX_RECORD_HEAD_BYTES);

/**
 * Writes a message of at most `maxBytes`. When the answers or authorities do not fit, it is marked as truncated;
 * additional records that do not fit are left out.
 */
export function writeMessage(parts: MessageParts, maxBytes: number): Buffer {
  const { questionBytes, questionName, edns } = parts;
  const limit = Math.min(maxBytes, MAX_MESSAGE_BYTES) - (edns ? OPT_BYTES : 0);
  questionBytes.copy(scratch, HEADER_BYTES);
  const writer = new RecordWriter(questionName, HEADER_BYTES + questionBytes.length, limit);
  const answers = writer.records(parts.answers);
  const isWhole = answers === parts.answers.length;
  const authorities = isWhole ? writer.records(parts.authorities) : 0;
  const isTruncated = !isWhole || authorities < parts.authorities.length;
  const additionals = isTruncated ? 0 : writer.records(parts.additionals);
  let end = writer.position;
  if (edns) end = writeOpt(end, edns, parts.code);
  scratch.writeUInt16BE(parts.id, 0);
  scratch.writeUInt16BE(parts.flags | (isTruncated ? Flag.TRUNCATED : 0) | (parts.code & 0xf), 2);
  scratch.writeUInt16BE(1, 4);
  scratch.writeUInt16BE(answers, 6);
  scratch.writeUInt16BE(authorities, 8);
  scratch.writeUInt16BE(additionals + (edns ? 1 : 0), 10);
  return Buffer.from(scratch.subarray(0, end));
}

/** Writes the response to a malformed query: the header alone. */
export function writeFormatError(id: number, flags: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(flags | Flag.RESPONSE | ResponseCode.FORMERR, 2);
  return header;
}

function writeOpt(start: number, edns: { udpSize: number; dnssecOk: boolean }, code: number): number {
  scratch[start] = 0;
  scratch.writeUInt16BE(RecordType.OPT, start + 1);
  scratch.writeUInt16BE(edns.udpSize, start + 3);
  scratch.writeUInt32BE((((code >> 4) << 24) | (edns.dnssecOk ? 0x8000 : 0)) >>> 0, start + 5);
  scratch.writeUInt16BE(0, start + 9);
  return start + OPT_BYTES;
}

const FIXED_BYTES = 10;
const names = new NameReader();

class RecordWriter {
  /** Positions of names, for pointers to them; undefined until a name besides the question's was written. */
  #known: Map<string, number> | undefined;

  constructor(
    private readonly questionName: string,
    public position: number,
    private readonly limit: number,
  ) {}

  /** Indexes the name of the question and its parents. */
  #questionNames(): Map<string, number> {
    const known = new Map<string, number>();
    let rest = this.questionName;
    let position = HEADER_BYTES;
    while (rest !== '') {
      known.set(rest, position);
      position += (scratch[position] ?? 0) + 1;
      rest = splitName(rest).parent;
    }
    return known;
  }

  /** Writes records until one does not fit, and returns their number. */
  records(records: readonly ResourceRecord[]): number {
    for (let i = 0; i < records.length; i++) if (!this.#record(records[i]!)) return i;
    return records.length;
  }

  #record(record: ResourceRecord): boolean {
    const start = this.position;
    const fixed = this.#name(record.name, start);
    const dataStart = fixed + FIXED_BYTES;
    scratch.writeUInt16BE(record.type, fixed);
    scratch.writeUInt16BE(record.class, fixed + 2);
    scratch.writeUInt32BE(record.ttl, fixed + 4);
    const end = this.#data(record, dataStart);
    if (end > this.limit) {
      // Forgets the names of the record that did not fit.
      for (const [name, position] of this.#known ?? []) if (position >= start) this.#known?.delete(name);
      return false;
    }
    scratch.writeUInt16BE(end - dataStart, fixed + 8);
    this.position = end;
    return true;
  }

  #data({ type, data }: ResourceRecord, start: number): number {
    if (isOneName(type)) return this.#name(names.read(data, 0), start);
    data.copy(scratch, start);
    return start + data.length;
  }

  /** Writes a name at a position, ending in a pointer to a known parent, and returns the position after it. */
  #name(name: string, start: number): number {
    if (name === this.questionName && name !== '') {
      scratch.writeUInt16BE(POINTER_BITS | HEADER_BYTES, start);
      return start + 2;
    }
    this.#known ??= this.#questionNames();
    let rest = name;
    let position = start;
    while (rest !== '') {
      const known = this.#known.get(rest);
      if (known !== undefined) {
        scratch.writeUInt16BE(POINTER_BITS | known, position);
        return position + 2;
      }
      if (position <= MAX_POINTER) this.#known.set(rest, position);
      const { label, parent } = splitName(rest);
      position = writeLabel(scratch, position, label);
      rest = parent;
    }
    scratch[position] = 0;
    return position + 1;
  }
}
