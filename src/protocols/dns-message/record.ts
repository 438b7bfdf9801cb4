/** Resource records. Their data is in wire format, with uncompressed names. */
import { isIPv4, isIPv6 } from 'node:net';
import { RecordType } from './codes.ts';
import { nameBytes } from './name.ts';

/** A record of a zone: class IN, without its lifetime. */
export interface ZoneRecord {
  /** The owner's name; see name.ts. */
  readonly name: string;
  readonly type: number;
  readonly data: Buffer;
}

export interface ResourceRecord extends ZoneRecord {
  readonly class: number;
  readonly ttl: number;
}

/** Makes an A or AAAA record; undefined when the text is not an address. */
export function addressRecord(name: string, address: string): ZoneRecord | undefined {
  if (isIPv4(address)) return { name, type: RecordType.A, data: Buffer.from(address.split('.').map(Number)) };
  if (isIPv6(address)) return { name, type: RecordType.AAAA, data: ipv6Bytes(address) };
  return undefined;
}

export function cnameRecord(name: string, target: string): ZoneRecord {
  return { name, type: RecordType.CNAME, data: nameBytes(target) };
}

/** Makes a record that redirects all names below a name (RFC 6672). */
export function dnameRecord(name: string, target: string): ZoneRecord {
  return { name, type: RecordType.DNAME, data: nameBytes(target) };
}

export function nsRecord(name: string, target: string): ZoneRecord {
  return { name, type: RecordType.NS, data: nameBytes(target) };
}

export function ptrRecord(name: string, target: string): ZoneRecord {
  return { name, type: RecordType.PTR, data: nameBytes(target) };
}

export interface SrvTarget {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

export function srvRecord(name: string, { priority, weight, port, target }: SrvTarget): ZoneRecord {
  const fixed = Buffer.allocUnsafe(6);
  fixed.writeUInt16BE(priority, 0);
  fixed.writeUInt16BE(weight, 2);
  fixed.writeUInt16BE(port, 4);
  return { name, type: RecordType.SRV, data: Buffer.concat([fixed, nameBytes(target)]) };
}

export function txtRecord(name: string, text: string): ZoneRecord {
  const bytes = Buffer.from(text);
  return { name, type: RecordType.TXT, data: Buffer.concat([Buffer.from([bytes.length]), bytes]) };
}

export interface ZoneTimes {
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  /** Lifetime of negative answers, in seconds. */
  readonly minimum: number;
}

export function soaRecord(name: string, server: string, mailbox: string, times: ZoneTimes): ZoneRecord {
  const numbers = Buffer.allocUnsafe(20);
  [times.serial, times.refresh, times.retry, times.expire, times.minimum].forEach((value, index) => {
    numbers.writeUInt32BE(value >>> 0, index * 4);
  });
  return { name, type: RecordType.SOA, data: Buffer.concat([nameBytes(server), nameBytes(mailbox), numbers]) };
}

/** Returns the lifetime of negative answers in an SOA record, in seconds. */
export function negativeTtl({ data, ttl }: ResourceRecord): number {
  if (data.length < 4) return 0;
  return Math.min(ttl, data.readUInt32BE(data.length - 4));
}

/** Returns the 16 bytes of an IPv6 address, which may end in an IPv4 address. */
function ipv6Bytes(text: string): Buffer {
  const address = text.replace(/%.*$/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    return `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`;
  });
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
  const bytes = Buffer.allocUnsafe(16);
  all.forEach((group, index) => {
    bytes.writeUInt16BE(group, index * 2);
  });
  return bytes;
}

/** Returns the name for reverse lookups of an address, in in-addr.arpa or ip6.arpa. */
export function reverseName(address: string): string | undefined {
  if (isIPv4(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  if (!isIPv6(address)) return undefined;
  const digits = ipv6Bytes(address).toString('hex');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}
