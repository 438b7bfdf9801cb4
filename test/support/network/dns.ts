/** Queries and zones for tests of the DNS server. */

import { serviceRecords } from '../../../src/network/dns/zone/records.ts';
import type { ZoneChange } from '../../../src/network/dns/zone/zone.ts';
import { Flag, RecordType } from '../../../src/protocols/dns-message/codes.ts';
import { type Response, readResponse } from '../../../src/protocols/dns-message/message.ts';
import { NameReader, nameBytes } from '../../../src/protocols/dns-message/name.ts';
import type { ZoneRecord } from '../../../src/protocols/dns-message/record.ts';
import { writeMessage } from '../../../src/protocols/dns-message/write.ts';

export const DOMAIN = 'cluster.local';

interface QueryOptions {
  readonly id?: number;
  readonly class?: number;
  readonly edns?: number;
  readonly flags?: number;
}

export function queryBytes(name: string, type: number = RecordType.A, options: QueryOptions = {}): Buffer {
  const fixed = Buffer.from([type >> 8, type & 255, 0, options.class ?? 1]);
  return writeMessage(
    {
      id: options.id ?? 7,
      flags: options.flags ?? Flag.RECURSION_DESIRED,
      code: 0,
      questionBytes: Buffer.concat([nameBytes(name), fixed]),
      questionName: name,
      ...{ answers: [], authorities: [], additionals: [] },
      edns: options.edns === undefined ? undefined : { udpSize: options.edns, dnssecOk: false },
    },
    65_535,
  );
}

const names = new NameReader();

/** A record as a zone file has it, without its lifetime: `name TYPE data`. */
export function recordLine({ name, type, data }: ZoneRecord): string {
  switch (type) {
    case RecordType.A:
      return `${name} A ${data.join('.')}`;
    case RecordType.AAAA:
      return `${name} AAAA ${data.toString('hex')}`;
    case RecordType.SRV: {
      const numbers = [data.readUInt16BE(0), data.readUInt16BE(2), data.readUInt16BE(4)];
      return `${name} SRV ${numbers.join(' ')} ${names.read(data, 6)}`;
    }
    case RecordType.TXT:
      return `${name} TXT ${data.subarray(1)}`;
    case RecordType.SOA:
      return `${name} SOA ${names.read(data, 0)}`;
    case RecordType.NS:
      return `${name} NS ${names.read(data, 0)}`;
    default:
      return `${name} ${type === RecordType.PTR ? 'PTR' : 'CNAME'} ${names.read(data, 0)}`;
  }
}

/** A response in short: its code, and the records of each section that has some. */
export function summary(message: Buffer | Response) {
  const { code, flags, answers, authorities, additionals } = Buffer.isBuffer(message) ? readResponse(message) : message;
  return {
    code,
    ...(flags & Flag.TRUNCATED ? { isTruncated: true } : {}),
    ...(answers.length > 0 ? { answers: answers.map(recordLine) } : {}),
    ...(authorities.length > 0 ? { authorities: authorities.map(recordLine) } : {}),
    ...(additionals.length > 0 ? { additionals: additionals.map(recordLine) } : {}),
  };
}

/** The records of a service in the namespace `shop`, or in that of `kubernetes`. */
export function serviceChange(name: string, spec: object, endpoints: readonly object[] = []): ZoneChange {
  const namespace = name === 'kubernetes' ? 'default' : 'shop';
  const service = { metadata: { name, namespace }, spec: { type: 'ClusterIP', ports: [], ...spec } };
  const ports = [{ name: 'http', protocol: 'TCP', port: 8080 }];
  const slices = [{ addressType: 'IPv4', endpoints, ports }];
  return { source: name, records: serviceRecords(service as never, slices as never, DOMAIN) };
}
