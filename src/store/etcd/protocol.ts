import { fromJSON, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';

/**
 * What this store says to etcd v3 and hears from it: only the messages and fields that it uses. Names are ours to
 * choose; the numbers, and the names of packages, services and methods, are etcd's. Kept as a value, not as a .proto
 * file, so that a bundle needs no file beside it.
 */

export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** Every key from `key` on, before this one; a single zero byte: to the end. Empty: `key` alone. */
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export interface ResponseHeader {
  readonly revision: number;
}

interface Compare {
  readonly target: (typeof CompareTarget)[keyof typeof CompareTarget];
  readonly key: Buffer;
  readonly version?: number;
  readonly modRevision?: number;
}

type RequestOperation =
  | { readonly range: RangeRequest }
  | { readonly put: { readonly key: Buffer; readonly value: Buffer } }
  | { readonly deleteRange: { readonly key: Buffer } };

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOperation[];
  readonly failure: readonly RequestOperation[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly range?: RangeResponse | null }[];
}

export interface CompactionRequest {
  readonly revision: number;
}

export interface WatchRequest {
  readonly create: {
    readonly key: Buffer;
    readonly rangeEnd: Buffer;
    readonly startRevision: number;
    readonly progressNotify: boolean;
    readonly previous: boolean;
    readonly fragment: boolean;
  };
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Above 0: the watch was cancelled because its start lies before this revision. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of the same response follows. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface WatchEvent {
  readonly type: (typeof EventType)[keyof typeof EventType];
  readonly kv: KeyValue;
  readonly previous: KeyValue | null;
}

export const CompareTarget = { VERSION: 0, MOD: 2 } as const;
export const EventType = { PUT: 0, DELETE: 1 } as const;

type Descriptors = NonNullable<Parameters<typeof fromJSON>[0]['nested']>;

const field = (id: number, type: string) => ({ id, type });
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' });

const HEADER = field(1, 'ResponseHeader');

const MESSAGES: Descriptors = {
  ResponseHeader: { fields: { revision: field(3, 'int64') } },
  KeyValue: {
    fields: {
      key: field(1, 'bytes'),
      modRevision: field(3, 'int64'),
      version: field(4, 'int64'),
      value: field(5, 'bytes'),
    },
  },
  RangeRequest: {
    fields: {
      key: field(1, 'bytes'),
      rangeEnd: field(2, 'bytes'),
      limit: field(3, 'int64'),
      revision: field(4, 'int64'),
      keysOnly: field(8, 'bool'),
    },
  },
  RangeResponse: { fields: { header: HEADER, kvs: list(2, 'KeyValue'), more: field(3, 'bool') } },
  PutRequest: { fields: { key: field(1, 'bytes'), value: field(2, 'bytes') } },
  DeleteRangeRequest: { fields: { key: field(1, 'bytes') } },
  RequestOperation: {
    oneofs: { request: { oneof: ['range', 'put', 'deleteRange'] } },
    fields: {
      range: field(1, 'RangeRequest'),
      put: field(2, 'PutRequest'),
      deleteRange: field(3, 'DeleteRangeRequest'),
    },
  },
  ResponseOperation: { fields: { range: field(1, 'RangeResponse') } },
  Compare: {
    oneofs: { union: { oneof: ['version', 'modRevision'] } },
    // The result is left out: its zero value says "equal".
    fields: {
      target: field(2, 'int32'),
      key: field(3, 'bytes'),
      version: field(4, 'int64'),
      modRevision: field(6, 'int64'),
    },
  },
  TxnRequest: {
    fields: {
      compare: list(1, 'Compare'),
      success: list(2, 'RequestOperation'),
      failure: list(3, 'RequestOperation'),
    },
  },
  TxnResponse: { fields: { header: HEADER, succeeded: field(2, 'bool'), responses: list(3, 'ResponseOperation') } },
  CompactionRequest: { fields: { revision: field(1, 'int64') } },
  CompactionResponse: { fields: { header: HEADER } },
  WatchRequest: { fields: { create: field(1, 'WatchCreateRequest') } },
  WatchCreateRequest: {
    fields: {
      key: field(1, 'bytes'),
      rangeEnd: field(2, 'bytes'),
      startRevision: field(3, 'int64'),
      progressNotify: field(4, 'bool'),
      previous: field(6, 'bool'),
      fragment: field(8, 'bool'),
    },
  },
  WatchResponse: {
    fields: {
      header: HEADER,
      created: field(3, 'bool'),
      canceled: field(4, 'bool'),
      compactRevision: field(5, 'int64'),
      cancelReason: field(6, 'string'),
      fragment: field(7, 'bool'),
      events: list(11, 'WatchEvent'),
    },
  },
  WatchEvent: { fields: { type: field(1, 'int32'), kv: field(2, 'KeyValue'), previous: field(3, 'KeyValue') } },
};

const rpc = (requestType: string, responseType: string) => ({ requestType, responseType, comment: '' });

const SERVICES: Descriptors = {
  KV: {
    methods: {
      Range: rpc('RangeRequest', 'RangeResponse'),
      Txn: rpc('TxnRequest', 'TxnResponse'),
      Compact: rpc('CompactionRequest', 'CompactionResponse'),
    },
  },
  Watch: {
    methods: { Watch: { ...rpc('WatchRequest', 'WatchResponse'), requestStream: true, responseStream: true } },
  },
};

const definitions = fromJSON(
  { nested: { etcdserverpb: { nested: { ...MESSAGES, ...SERVICES } } } },
  { longs: Number, defaults: true },
);

function method<Request, Response>(service: 'KV' | 'Watch', name: string) {
  const all = definitions[`etcdserverpb.${service}`] as ServiceDefinition;
  return all[name] as unknown as MethodDefinition<Request, Response>;
}

export const methods = {
  range: method<RangeRequest, RangeResponse>('KV', 'Range'),
  txn: method<TxnRequest, TxnResponse>('KV', 'Txn'),
  compact: method<CompactionRequest, { header: ResponseHeader }>('KV', 'Compact'),
  watch: method<WatchRequest, WatchResponse>('Watch', 'Watch'),
};
