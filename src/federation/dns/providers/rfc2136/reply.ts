/** The messages of a server: responses to updates, and the parts of a zone transfer. */
import { HEADER_BYTES } from '../../../../protocols/dns-message/codes.ts';
import type { Response } from '../../../../protocols/dns-message/message.ts';
import { MessageError } from '../../../../protocols/dns-message/message-error.ts';
import { NameReader } from '../../../../protocols/dns-message/name.ts';
import type { ResourceRecord } from '../../../../protocols/dns-message/record.ts';
import { readData } from '../../../../protocols/dns-message/record-data.ts';

interface Tsig {
  /** Position of its record in the message. */
  readonly start: number;
  readonly keyName: string;
  readonly algorithm: string;
  readonly timeSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
}

export interface Reply extends Pick<Response, 'id' | 'flags' | 'code' | 'answers'> {
  readonly tsig: Tsig | undefined;
}

export const TSIG_TYPE = 250;
const FIXED_QUESTION_BYTES = 4;
const FIXED_RECORD_BYTES = 10;
const TSIG_TIME_BYTES = 8;
const names = new NameReader();

/** Parses a reply, which may have no question. Throws a MessageError when the format is wrong. */
export function readReply(message: Buffer): Reply {
  if (message.length < HEADER_BYTES) throw new MessageError('the header is incomplete');
  let position = HEADER_BYTES;
  for (let i = 0; i < message.readUInt16BE(4); i++) {
    names.read(message, position);
    position = names.end + FIXED_QUESTION_BYTES;
  }
  const answerCount = message.readUInt16BE(6);
  const total = answerCount + message.readUInt16BE(8) + message.readUInt16BE(10);
  const answers: ResourceRecord[] = [];
  let tsig: Tsig | undefined;
  for (let i = 0; i < total; i++) {
    const start = position;
    const name = names.read(message, start);
    const fixed = names.end;
    const dataStart = fixed + FIXED_RECORD_BYTES;
    if (dataStart > message.length) throw new MessageError('a record is incomplete');
    const end = dataStart + message.readUInt16BE(fixed + 8);
    if (end > message.length) throw new MessageError('a record is incomplete');
    const type = message.readUInt16BE(fixed);
    if (tsig) throw new MessageError('a record follows the signature');
    if (type === TSIG_TYPE) tsig = readTsig(message, { start, name, dataStart, end });
    else if (i < answerCount) {
      const data = readData(message, type, dataStart, end, names);
      answers.push({ name, type, class: message.readUInt16BE(fixed + 2), ttl: message.readUInt32BE(fixed + 4), data });
    }
    position = end;
  }
  const flags = message.readUInt16BE(2);
  return { id: message.readUInt16BE(0), flags, code: flags & 0xf, answers, tsig };
}

interface TsigBounds {
  readonly start: number;
  readonly name: string;
  readonly dataStart: number;
  readonly end: number;
}

function readTsig(message: Buffer, { start, name: keyName, dataStart, end }: TsigBounds): Tsig {
  const algorithm = names.read(message, dataStart);
  const time = names.end;
  const macStart = time + TSIG_TIME_BYTES + 2;
  if (macStart > end) throw new MessageError('the signature is incomplete');
  const macEnd = macStart + message.readUInt16BE(time + TSIG_TIME_BYTES);
  const otherStart = macEnd + 6;
  if (otherStart > end) throw new MessageError('the signature is incomplete');
  return {
    start,
    keyName,
    algorithm,
    timeSeconds: message.readUIntBE(time, 6),
    fudgeSeconds: message.readUInt16BE(time + 6),
    mac: Buffer.from(message.subarray(macStart, macEnd)),
    originalId: message.readUInt16BE(macEnd),
    error: message.readUInt16BE(macEnd + 2),
    other: Buffer.from(message.subarray(otherStart, end)),
  };
}
