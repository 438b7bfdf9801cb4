/** The messages that are sent to a server: questions, and updates of a zone. Names are those of provider.ts. */
import { Flag, HEADER_BYTES, RecordClass, RecordType } from '../../../../protocols/dns-message/codes.ts';
import { nameBytes } from '../../../../protocols/dns-message/name.ts';
import { addressRecord } from '../../../../protocols/dns-message/record.ts';
import { DnsError, type RecordChanges, type RecordSet } from '../../provider.ts';

const UPDATE = 5 << 11;
const CLASS_ANY = 255;
export const AXFR = 252;
/** Leaves room for the header, the zone and the signature in a message of at most 65,535 bytes. */
const MAX_UPDATE_BYTES = 60_000;

export const TYPE_NUMBERS = { A: RecordType.A, AAAA: RecordType.AAAA, CNAME: RecordType.CNAME } as const;

/** Asks for the records of a type at the name of a zone; AXFR: for the whole zone. */
export function question(id: number, zone: string, type: number): Buffer {
  return Buffer.concat([header(id, type === AXFR ? 0 : Flag.RECURSION_DESIRED, 0), zoneSection(zone, type)]);
}

/** Messages that make the changes: one, unless it would be too long. Removals come first. */
export function updates(zone: string, { remove, ensure }: RecordChanges, nextId: () => number): readonly Buffer[] {
  const parts = [
    ...remove.map(({ name, type }) => [removal(name, type)]),
    ...ensure.map((set) => [removal(set.name, set.type), ...additions(set)]),
  ];
  const messages: Buffer[] = [];
  let records: Buffer[] = [];
  let bytes = 0;
  const flush = () => {
    if (records.length === 0) return;
    messages.push(
      Buffer.concat([header(nextId(), UPDATE, records.length), zoneSection(zone, RecordType.SOA), ...records]),
    );
    [records, bytes] = [[], 0];
  };
  for (const part of parts) {
    const size = part.reduce((sum, record) => sum + record.length, 0);
    if (bytes + size > MAX_UPDATE_BYTES) flush();
    if (size > MAX_UPDATE_BYTES)
      throw new DnsError('Invalid', `a name has ${part.length - 1} records, which are too many`);
    records.push(...part);
    bytes += size;
  }
  flush();
  return messages;
}

/**
 * Returns a header for one question, or one zone; `count` is the number of updates, which are where other messages have
 * authorities.
 */
function header(id: number, flags: number, count: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(flags, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(count, 8);
  return bytes;
}

function zoneSection(zone: string, type: number): Buffer {
  const fixed = Buffer.alloc(4);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(RecordClass.IN, 2);
  return Buffer.concat([wireName(zone), fixed]);
}

/** Deletes all records of a name and type. */
function removal(name: string, type: RecordSet['type']): Buffer {
  return record(name, { type: TYPE_NUMBERS[type], class: CLASS_ANY, ttl: 0, data: Buffer.alloc(0) });
}

function additions({ name, type, ttlSeconds, values }: RecordSet): Buffer[] {
  return values.map((value) => {
    const data = type === 'CNAME' ? wireName(value) : addressData(type, value);
    return record(name, { type: TYPE_NUMBERS[type], class: RecordClass.IN, ttl: ttlSeconds, data });
  });
}

function addressData(type: 'A' | 'AAAA', value: string): Buffer {
  const found = addressRecord('', value);
  if (found?.type !== TYPE_NUMBERS[type]) throw new DnsError('Invalid', `${value} is no address of an ${type} record`);
  return found.data;
}

function record(name: string, rest: { type: number; class: number; ttl: number; data: Buffer }): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(rest.type, 0);
  fixed.writeUInt16BE(rest.class, 2);
  fixed.writeUInt32BE(rest.ttl, 4);
  fixed.writeUInt16BE(rest.data.length, 8);
  return Buffer.concat([wireName(name), fixed, rest.data]);
}

const wireName = (name: string) => nameBytes(name.replace(/\.$/, ''));
