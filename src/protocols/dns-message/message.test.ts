import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { Flag, RecordType, ResponseCode } from './codes.ts';
import { readQuery, readResponse } from './message.ts';
import { MessageError } from './message-error.ts';
import { nameBytes, nameFrom } from './name.ts';
import {
  addressRecord,
  cnameRecord,
  ptrRecord,
  type ResourceRecord,
  reverseName,
  srvRecord,
  txtRecord,
} from './record.ts';
import { type MessageParts, writeMessage } from './write.ts';

const live = (record: Omit<ResourceRecord, 'ttl' | 'class'> | undefined): ResourceRecord => ({
  ...record!,
  class: 1,
  ttl: 5,
});

function question(name: string, type: number): Buffer {
  return Buffer.concat([nameBytes(name), Buffer.from([type >> 8, type & 255, 0, 1])]);
}

function parts(fields: Partial<MessageParts> = {}): MessageParts {
  const questionName = fields.questionName ?? 'web.shop.svc.cluster.local';
  return {
    id: 0x1234,
    flags: Flag.RESPONSE,
    code: ResponseCode.NOERROR,
    questionBytes: question(questionName, RecordType.A),
    questionName,
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
    ...fields,
  };
}

const label = fc.stringMatching(/^[a-z0-9_]([-a-z0-9]{0,20}[a-z0-9])?$/);
const anyName = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'));
const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((each) => Buffer.from(each));
const anyRecord = fc.oneof(
  fc.tuple(anyName, fc.ipV4()).map(([name, address]) => live(addressRecord(name, address))),
  fc.tuple(anyName, fc.ipV6()).map(([name, address]) => live(addressRecord(name, address))),
  fc.tuple(anyName, anyName).map(([name, target]) => live(cnameRecord(name, target))),
  fc.tuple(anyName, anyName).map(([name, target]) => live(ptrRecord(name, target))),
  fc.tuple(anyName, anyName, fc.nat(65535)).map(([name, target, port]) => {
    return live(srvRecord(name, { priority: 0, weight: 1, port, target }));
  }),
  // A record of an unknown type.
  fc.tuple(anyName, bytes(300)).map(([name, data]) => live({ name, type: 65280, data })),
);
const records = fc.array(anyRecord, { maxLength: 8 });

describe('a message', () => {
  it('is read back as it was written', () => {
    forAll(anyName, records, records, records, (questionName, answers, authorities, additionals) => {
      const message = writeMessage(
        parts({ questionName, questionBytes: question(questionName, 1), answers, authorities, additionals }),
        65535,
      );
      const read = readResponse(message);
      expect(read.question).toEqual({ name: questionName, type: 1, class: 1 });
      expect(read.answers).toEqual(answers);
      expect(read.authorities).toEqual(authorities);
      expect(read.additionals).toEqual(additionals);
    });
  });

  it('stays within the size limit, and is marked as truncated when answers are missing', () => {
    forAll(
      records,
      records,
      records,
      fc.integer({ min: 80, max: 1232 }),
      (answers, authorities, additionals, limit) => {
        const edns = { udpSize: 1232, dnssecOk: false };
        const message = writeMessage(parts({ answers, authorities, additionals, edns }), limit);
        expect(message.length).toBeLessThanOrEqual(limit);
        const read = readResponse(message);
        const isTruncated = (read.flags & Flag.TRUNCATED) !== 0;
        expect(read.answers).toEqual(answers.slice(0, read.answers.length));
        expect(isTruncated).toBe(read.answers.length < answers.length || read.authorities.length < authorities.length);
      },
    );
  });

  it('compresses repeated names', () => {
    const answers = ['10.0.0.1', '10.0.0.2'].map((address) =>
      live(addressRecord('web.shop.svc.cluster.local', address)),
    );
    const head = 12 + question('web.shop.svc.cluster.local', 1).length;
    expect(writeMessage(parts({ answers }), 512)).toHaveLength(head + 2 * (2 + 10 + 4));
    const alias = live(cnameRecord('web.shop.svc.cluster.local', 'db.shop.svc.cluster.local'));
    expect(writeMessage(parts({ answers: [alias] }), 512)).toHaveLength(head + 2 + 10 + 3 + 2);
  });

  it('has the upper bits of a code in its OPT record', () => {
    const message = writeMessage(parts({ code: ResponseCode.BADVERS, edns: { udpSize: 1232, dnssecOk: true } }), 512);
    expect(readResponse(message).code).toBe(ResponseCode.BADVERS);
    expect(readQuery(message).edns).toEqual({ udpSize: 1232, version: 0, extendedCode: 1, wantsDnssec: true });
  });

  it('is parsed or rejected when its bytes are random', () => {
    const attempt = (message: Buffer) => {
      for (const read of [readQuery, readResponse]) {
        try {
          read(message);
        } catch (error) {
          if (!(error instanceof MessageError)) throw error;
        }
      }
      return true;
    };
    forAll({ numRuns: 2_000 }, bytes(600), attempt);
    const valid = writeMessage(
      parts({
        answers: [
          live(srvRecord('_http._tcp.web.shop.svc.cluster.local', { priority: 0, weight: 1, port: 80, target: 'a.b' })),
          live(cnameRecord('a.b', 'c.a.b')),
          live(txtRecord('c.a.b', 'text')),
        ],
        edns: { udpSize: 1232, dnssecOk: false },
      }),
      512,
    );
    const changes = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    forAll({ numRuns: 2_000 }, changes, fc.nat(valid.length), (changed, length) => {
      const message = Buffer.from(valid);
      for (const [at, value] of changed) message[at] = value;
      return attempt(message) && attempt(message.subarray(0, length));
    });
    expect(() => readQuery(Buffer.alloc(5))).toThrow(MessageError);
  });

  it.each([
    ['that points to itself', [0xc0, 12]],
    ['that points forwards', [0xc0, 14, 1, 0x61, 0]],
    ['with a label of another type', [0x41, 0x61, 0]],
    ['without an end', [3, 0x61]],
    ['of more than 255 bytes', [...Array.from({ length: 6 }, () => [50, ...Array(50).fill(0x61)]).flat(), 0]],
  ])('is rejected with a name %s', (_, name) => {
    const header = Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(() => readQuery(Buffer.concat([header, Buffer.from(name), Buffer.from([0, 1, 0, 1])]))).toThrow(
      MessageError,
    );
  });

  it('expands compressed names in data', () => {
    const head = Buffer.from([0, 1, 0x80, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0x61, 1, 0x62, 0, 0, 15, 0, 1]);
    // a.b MX 10 with a pointer to b.
    const answer = Buffer.from([0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 5, 0, 4, 0, 10, 0xc0, 14]);
    const [record] = readResponse(Buffer.concat([head, answer])).answers;
    expect(record?.data).toEqual(Buffer.from([0, 10, 1, 0x62, 0]));
  });
});

describe('a name', () => {
  /** A query whose second record has a name of so many pointers, each to the previous one. */
  function chained(pointers: number): Buffer {
    const head = Buffer.from([0, 1, 1, 0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1]);
    const chain = Buffer.alloc(pointers * 2 - 2);
    const first = head.length + 11;
    for (let i = 0; i < chain.length; i += 2) chain.writeUInt16BE(0xc000 | (i === 0 ? 12 : first + i - 2), i);
    const record = Buffer.from([0, 0xff, 0, 0, 1, 0, 0, 0, 0, chain.length >> 8, chain.length & 255]);
    const last = Buffer.alloc(12);
    last.writeUInt16BE(0xc000 | (first + chain.length - 2), 0);
    return Buffer.concat([head, record, chain, last]);
  }

  it('has at most as many pointers as labels', () => {
    expect(readQuery(chained(127)).question.name).toBe('a');
    expect(() => readQuery(chained(128))).toThrow(MessageError);
  });

  it('does not keep the rest of a large message', () => {
    const large = Buffer.concat([chained(127), Buffer.alloc(60_000)]);
    expect(readQuery(large).questionBytes.buffer).not.toBe(large.buffer);
  });

  it('is compared without case, and keeps dots inside of labels', () => {
    const header = Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    const message = Buffer.concat([header, Buffer.from([3, 0x57, 0x2e, 0x62, 1, 0x43, 0, 0, 1, 0, 1])]);
    const { question: read } = readQuery(message);
    expect(read.name).toBe('w\\.b.c');
    expect(nameBytes(read.name)).toEqual(Buffer.from([3, 0x77, 0x2e, 0x62, 1, 0x63, 0]));
  });

  it.each([
    ['Example.COM.', 'example.com'],
    ['a..b', undefined],
    ['', undefined],
    ['ü.de', undefined],
    [`${'a'.repeat(64)}.b`, undefined],
  ])('%s of the API is %s', (text, name) => {
    expect(nameFrom(text)).toBe(name);
  });

  it.each([
    ['10.96.0.1', '1.0.96.10.in-addr.arpa'],
    ['fd00::1', `1.${'0.'.repeat(29)}d.f.ip6.arpa`],
    ['web', undefined],
  ])('of the address %s is %s', (address, name) => {
    expect(reverseName(address)).toBe(name);
  });
});
