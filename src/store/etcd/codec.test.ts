/** Compares our protobuf codec with an independent library, based on etcd's own message definitions. */
import { fromJSON } from '@grpc/proto-loader';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeCompactionResponse,
  decodeRangeResponse,
  decodeTxnResponse,
  decodeWatchResponse,
  encodeCompactionRequest,
  encodeRangeRequest,
  encodeTxnRequest,
  encodeWatchRequest,
} from './codec.ts';

type Descriptors = NonNullable<Parameters<typeof fromJSON>[0]['nested']>;

const field = (id: number, type: string) => ({ id, type });
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' });
const fields = (each: Record<string, { id: number; type: string }>, oneofs = {}) => ({ fields: each, oneofs });
const HEADER = field(1, 'ResponseHeader');

/** Includes fields that the store does not use, to test that they are skipped. */
const MESSAGES: Descriptors = {
  ResponseHeader: fields({
    clusterId: field(1, 'uint64'),
    memberId: field(2, 'uint64'),
    revision: field(3, 'int64'),
    raftTerm: field(4, 'uint64'),
  }),
  KeyValue: fields({
    key: field(1, 'bytes'),
    createRevision: field(2, 'int64'),
    modRevision: field(3, 'int64'),
    version: field(4, 'int64'),
    value: field(5, 'bytes'),
    lease: field(6, 'int64'),
  }),
  RangeRequest: fields({
    key: field(1, 'bytes'),
    rangeEnd: field(2, 'bytes'),
    limit: field(3, 'int64'),
    revision: field(4, 'int64'),
    keysOnly: field(8, 'bool'),
  }),
  RangeResponse: fields({
    header: HEADER,
    kvs: list(2, 'KeyValue'),
    more: field(3, 'bool'),
    count: field(4, 'int64'),
  }),
  PutRequest: fields({ key: field(1, 'bytes'), value: field(2, 'bytes') }),
  PutResponse: fields({ header: HEADER }),
  DeleteRangeRequest: fields({ key: field(1, 'bytes') }),
  RequestOp: fields(
    { range: field(1, 'RangeRequest'), put: field(2, 'PutRequest'), deleteRange: field(3, 'DeleteRangeRequest') },
    { request: { oneof: ['range', 'put', 'deleteRange'] } },
  ),
  ResponseOp: fields(
    { range: field(1, 'RangeResponse'), put: field(2, 'PutResponse') },
    { response: { oneof: ['range', 'put'] } },
  ),
  Compare: fields(
    {
      result: field(1, 'int32'),
      target: field(2, 'int32'),
      key: field(3, 'bytes'),
      version: field(4, 'int64'),
      modRevision: field(6, 'int64'),
    },
    { union: { oneof: ['version', 'modRevision'] } },
  ),
  TxnRequest: fields({ compare: list(1, 'Compare'), success: list(2, 'RequestOp'), failure: list(3, 'RequestOp') }),
  TxnResponse: fields({ header: HEADER, succeeded: field(2, 'bool'), responses: list(3, 'ResponseOp') }),
  CompactionRequest: fields({ revision: field(1, 'int64'), physical: field(2, 'bool') }),
  CompactionResponse: fields({ header: HEADER }),
  WatchRequest: fields({ create: field(1, 'WatchCreateRequest') }, { union: { oneof: ['create'] } }),
  WatchCreateRequest: fields({
    key: field(1, 'bytes'),
    rangeEnd: field(2, 'bytes'),
    startRevision: field(3, 'int64'),
    progressNotify: field(4, 'bool'),
    previous: field(6, 'bool'),
    watchId: field(7, 'int64'),
    fragment: field(8, 'bool'),
  }),
  WatchResponse: fields({
    header: HEADER,
    watchId: field(2, 'int64'),
    created: field(3, 'bool'),
    canceled: field(4, 'bool'),
    compactRevision: field(5, 'int64'),
    cancelReason: field(6, 'string'),
    fragment: field(7, 'bool'),
    events: list(11, 'Event'),
  }),
  Event: fields({ type: field(1, 'int32'), kv: field(2, 'KeyValue'), previous: field(3, 'KeyValue') }),
  ...Object.fromEntries(
    ['Range', 'Txn', 'Compaction', 'Watch'].map((name) => {
      const method = { requestType: `${name}Request`, responseType: `${name}Response`, comment: '' };
      return [name, { methods: { Call: method } }];
    }),
  ),
};

const library: any = fromJSON({ nested: MESSAGES }, { longs: Number, defaults: false, arrays: true });

const number = fc.oneof(fc.nat(300), fc.maxSafeNat());
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((each): Buffer => Buffer.from(each)),
  fc.nat(40_000).map((length): Buffer => Buffer.alloc(length, length)),
);
const header = fc.record({ clusterId: number, memberId: number, revision: number, raftTerm: number });
const kv = fc.record({ key: bytes, createRevision: number, modRevision: number, version: number, value: bytes });
const optional = { requiredKeys: ['key' as const] };
const range = fc.record(
  {
    key: bytes,
    rangeEnd: bytes,
    limit: fc.integer({ min: 1, max: 5000 }),
    revision: fc.integer({ min: 1 }),
    keysOnly: fc.constant(true),
  },
  optional,
);
const operation = fc.oneof(
  fc.record({ range }),
  fc.record({ put: fc.record({ key: bytes, value: bytes }) }),
  fc.record({ deleteRange: fc.record({ key: bytes }) }),
);
const compare = fc.oneof(
  fc.record({ target: fc.constant(2 as const), key: bytes, modRevision: number }),
  fc.record({ target: fc.constant(0 as const), key: bytes, version: number }),
);
const rangeResponse = fc.record({ header, kvs: fc.array(kv), more: fc.boolean(), count: number });

const pick = ({ key, modRevision, version, value }: any) => ({ key, modRevision, version, value });
const pickHeader = ({ revision, raftTerm }: any) => ({ revision, term: raftTerm });
const pickRange = ({ header, kvs, more }: any) => ({ header: pickHeader(header), kvs: kvs.map(pick), more });

/** Removes empty, false and zero fields, which protobuf leaves out. */
function bare(value: any): any {
  if (Array.isArray(value)) return value.map(bare);
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).map(([name, each]) => [name, bare(each)]);
  return Object.fromEntries(kept.filter(([, each]) => each && each !== '' && !(Array.isArray(each) && !each.length)));
}

describe('a protobuf library decodes the requests', () => {
  const cases: [name: string, encode: (request: any) => Buffer, requests: fc.Arbitrary<any>][] = [
    ['Range', encodeRangeRequest, range],
    [
      'Txn',
      encodeTxnRequest,
      fc.record({ compare: fc.array(compare), success: fc.array(operation), failure: fc.array(operation) }),
    ],
    ['Compaction', encodeCompactionRequest, fc.record({ revision: number })],
    [
      'Watch',
      encodeWatchRequest,
      fc.record({
        create: fc.record({
          key: bytes,
          rangeEnd: bytes,
          startRevision: number,
          progressNotify: fc.boolean(),
          previous: fc.boolean(),
          fragment: fc.boolean(),
        }),
      }),
    ],
  ];
  it.each(cases)('%s', (name, encode, requests) => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(bare(library[name].Call.requestDeserialize(encode(request)))).toEqual(bare(request));
      }),
    );
  });

  it('encodes a comparison with zero', () => {
    const request = {
      compare: [{ target: 2 as const, key: Buffer.from('a'), modRevision: 0 }],
      success: [],
      failure: [],
    };
    const [found] = library.Txn.Call.requestDeserialize(encodeTxnRequest(request)).compare;
    expect(found).toMatchObject({ target: 2, modRevision: 0 });
  });
});

describe('decodes responses of a protobuf library', () => {
  const cases: [
    name: string,
    decode: (bytes: Buffer) => any,
    responses: fc.Arbitrary<any>,
    expected: (r: any) => any,
  ][] = [
    ['Range', decodeRangeResponse, rangeResponse, pickRange],
    [
      'Txn',
      decodeTxnResponse,
      fc.record({
        header,
        succeeded: fc.boolean(),
        responses: fc.array(fc.oneof(fc.record({ range: rangeResponse }), fc.record({ put: fc.record({ header }) }))),
      }),
      ({ header, succeeded, responses }) => ({
        header: pickHeader(header),
        succeeded,
        responses: responses.map((each: any) => (each.range ? { range: pickRange(each.range) } : {})),
      }),
    ],
    ['Compaction', decodeCompactionResponse, fc.record({ header }), (each) => ({ header: pickHeader(each.header) })],
    [
      'Watch',
      decodeWatchResponse,
      fc.record({
        header,
        watchId: fc.integer(),
        created: fc.boolean(),
        canceled: fc.boolean(),
        compactRevision: number,
        cancelReason: fc.string({ unit: 'grapheme' }),
        fragment: fc.boolean(),
        events: fc.array(fc.record({ type: fc.nat(1), kv, previous: kv }, { requiredKeys: ['type', 'kv'] })),
      }),
      ({ watchId: _, header, events, ...rest }) => ({
        ...rest,
        header: pickHeader(header),
        events: events.map(({ type, kv, previous }: any) => ({
          type,
          kv: pick(kv),
          previous: previous ? pick(previous) : null,
        })),
      }),
    ],
  ];
  it.each(cases)('%s', (name, decode, responses, expected) => {
    fc.assert(
      fc.property(responses, (response) => {
        const bytes = library[name].Call.responseSerialize(response);
        expect(bare(decode(bytes))).toEqual(bare(expected(response)));
      }),
    );
  });

  it('decodes missing fields as empty', () => {
    const nothing = Buffer.alloc(0);
    const header = { revision: 0, term: 0 };
    expect(decodeRangeResponse(nothing)).toEqual({ header, kvs: [], more: false });
    expect(decodeTxnResponse(nothing)).toEqual({ header, succeeded: false, responses: [] });
    expect(decodeWatchResponse(nothing)).toMatchObject({
      created: false,
      canceled: false,
      compactRevision: 0,
      events: [],
    });
  });
});
