/**
 * Positions of names in the data of records. Only these types may have compressed names, which must be expanded before
 * a record can be put into another message (RFC 3597, section 4). The data of all other types is opaque.
 */
import { MessageError } from './message-error.ts';
import { type NameReader, nameBytes } from './name.ts';

/** A part of the data: a name, a length-prefixed text, a number of bytes, or the rest. */
type Part = 'name' | 'text' | 'rest' | number;

const PARTS: Readonly<Record<number, readonly Part[]>> = {
  2: ['name'], // NS
  3: ['name'], // MD
  4: ['name'], // MF
  5: ['name'], // CNAME
  6: ['name', 'name', 20], // SOA
  7: ['name'], // MB
  8: ['name'], // MG
  9: ['name'], // MR
  12: ['name'], // PTR
  14: ['name', 'name'], // MINFO
  15: [2, 'name'], // MX
  17: ['name', 'name'], // RP
  18: [2, 'name'], // AFSDB
  21: [2, 'name'], // RT
  24: [18, 'name', 'rest'], // SIG
  26: [2, 'name', 'name'], // PX
  30: ['name', 'rest'], // NXT
  33: [6, 'name'], // SRV
  35: [4, 'text', 'text', 'text', 'name'], // NAPTR
  36: [2, 'name'], // KX
  39: ['name'], // DNAME
};

/** Returns the data of a record with its names expanded. */
export function readData(message: Buffer, type: number, start: number, end: number, names: NameReader): Buffer {
  const parts = PARTS[type];
  if (!parts) return Buffer.from(message.subarray(start, end));
  const out: Buffer[] = [];
  let position = start;
  for (const part of parts) {
    if (part === 'name') {
      out.push(nameBytes(names.read(message, position)));
      position = names.end;
    } else {
      const size = part === 'rest' ? end - position : part === 'text' ? 1 + (message[position] ?? 0) : part;
      out.push(message.subarray(position, position + size));
      position += size;
    }
    if (position > end) throw new MessageError('the data of a record is too short');
  }
  if (position !== end) throw new MessageError('the data of a record is too long');
  return Buffer.concat(out);
}

/** Types of RFC 1035 whose data is one name, which may be compressed on writing. */
const ONE_NAME: ReadonlySet<number> = new Set([2, 5, 12]);

export function isOneName(type: number): boolean {
  return ONE_NAME.has(type);
}
