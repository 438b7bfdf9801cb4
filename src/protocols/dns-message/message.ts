/** Parses complete messages from clients and upstream servers. */
import { HEADER_BYTES, OPCODE_MASK, RecordType } from './codes.ts';
import { MessageError } from './message-error.ts';
import { NameReader } from './name.ts';
import type { ResourceRecord } from './record.ts';
import { readData } from './record-data.ts';

export interface Question {
  /** The lower-case name; see name.ts. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

/** EDNS(0): the content of a message's OPT record. */
interface Edns {
  readonly udpSize: number;
  readonly version: number;
  /** Upper eight bits of the response code. */
  readonly extendedCode: number;
  readonly wantsDnssec: boolean;
}

export interface Query {
  readonly id: number;
  readonly flags: number;
  readonly opcode: number;
  readonly question: Question;
  /** The bytes of the question, with the name in the case of the client. */
  readonly questionBytes: Buffer;
  readonly edns: Edns | undefined;
}

export interface Sections {
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** The additional records without the OPT record. */
  readonly additionals: readonly ResourceRecord[];
}

export interface Response extends Sections, Pick<Query, 'id' | 'flags' | 'question' | 'questionBytes'> {
  /** The response code, including the bits in the OPT record. */
  readonly code: number;
}

const names = new NameReader();
const FIXED_RECORD_BYTES = 10;
const FIXED_QUESTION_BYTES = 4;
const MAX_KEPT_BYTES = 1_024;
const DNSSEC_OK = 0x8000;
const CODE_MASK = 0x000f;

/** Parses a query. Throws a MessageError when it is malformed. Records other than OPT are skipped. */
export function readQuery(message: Buffer): Query {
  const head = readHead(message);
  const { flags } = head;
  let { position } = head;
  let edns: Edns | undefined;
  const additionals = message.readUInt16BE(10);
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + additionals;
  for (let i = 0; i < records; i++) {
    const { type, record } = recordHead(message, position);
    position = record.end;
    if (type !== RecordType.OPT) continue;
    if (edns || i < records - additionals) throw new MessageError('an OPT record is in the wrong section');
    edns = ednsOf(record);
  }
  const { id, question, questionBytes } = head;
  // Copies field by field: V8 is slow with objects that are spread and extended.
  return { id, flags, opcode: (flags & OPCODE_MASK) >> 11, question, questionBytes, edns };
}

/** Parses a complete response. Throws a MessageError when it is malformed. */
export function readResponse(message: Buffer): Response {
  const head = readHead(message);
  let { position } = head;
  let code = head.flags & CODE_MASK;
  const section = (count: number): ResourceRecord[] => {
    const records: ResourceRecord[] = [];
    for (let i = 0; i < count; i++) {
      const { type, record } = recordHead(message, position);
      position = record.end;
      if (type === RecordType.OPT) {
        code |= ednsOf(record).extendedCode << 4;
        continue;
      }
      const data = readData(message, type, record.start, record.end, names);
      // The highest bit is ignored: such lifetimes count as zero (RFC 2181, section 8).
      const ttl = record.ttl > 0x7fffffff ? 0 : record.ttl;
      records.push({ name: record.name, type, class: record.class, ttl, data });
    }
    return records;
  };
  const answers = section(message.readUInt16BE(6));
  const authorities = section(message.readUInt16BE(8));
  const additionals = section(message.readUInt16BE(10));
  return { ...head, code, answers, authorities, additionals };
}

function readHead(message: Buffer) {
  if (message.length < HEADER_BYTES) throw new MessageError('the header is incomplete');
  if (message.readUInt16BE(4) !== 1) throw new MessageError('there must be one question');
  const name = names.read(message, HEADER_BYTES);
  const end = names.end + FIXED_QUESTION_BYTES;
  if (end > message.length) throw new MessageError('the question is incomplete');
  const question = { name, type: message.readUInt16BE(names.end), class: message.readUInt16BE(names.end + 2) };
  return {
    id: message.readUInt16BE(0),
    flags: message.readUInt16BE(2),
    question,
    questionBytes: keptPart(message, end),
    position: end,
  };
}

/** Copies the question, which is kept during the lookup; the message behind it may take 64 KB. */
function keptPart(message: Buffer, end: number): Buffer {
  const question = message.subarray(HEADER_BYTES, end);
  return message.buffer.byteLength > MAX_KEPT_BYTES ? Buffer.from(question) : question;
}

interface RecordHead {
  readonly name: string;
  readonly class: number;
  readonly ttl: number;
  /** Bounds of the data. */
  readonly start: number;
  readonly end: number;
}

function recordHead(message: Buffer, position: number): { type: number; record: RecordHead } {
  const name = names.read(message, position);
  const fixed = names.end;
  const start = fixed + FIXED_RECORD_BYTES;
  if (start > message.length) throw new MessageError('a record is incomplete');
  const end = start + message.readUInt16BE(fixed + 8);
  if (end > message.length) throw new MessageError('a record is incomplete');
  const type = message.readUInt16BE(fixed);
  return {
    type,
    record: { name, class: message.readUInt16BE(fixed + 2), ttl: message.readUInt32BE(fixed + 4), start, end },
  };
}

function ednsOf({ class: udpSize, ttl }: RecordHead): Edns {
  return {
    udpSize,
    extendedCode: ttl >>> 24,
    version: (ttl >>> 16) & 0xff,
    wantsDnssec: (ttl & DNSSEC_OK) !== 0,
  };
}
