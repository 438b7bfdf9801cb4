import type { Method } from '../../base/grpc/call.ts';
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

/**
 * What this store says to etcd v3 and hears from it: only the messages and fields that it uses. Names are ours to
 * choose; the names of packages, services and methods are etcd's. How messages become bytes is in codec.ts.
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

export interface Compare {
  readonly target: (typeof CompareTarget)[keyof typeof CompareTarget];
  readonly key: Buffer;
  readonly version?: number;
  readonly modRevision?: number;
}

export type RequestOperation =
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

export interface CompactionResponse {
  readonly header: ResponseHeader;
}

const range: Method<RangeRequest, RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  encode: encodeRangeRequest,
  decode: decodeRangeResponse,
};

const txn: Method<TxnRequest, TxnResponse> = {
  path: '/etcdserverpb.KV/Txn',
  encode: encodeTxnRequest,
  decode: decodeTxnResponse,
};

const compact: Method<CompactionRequest, CompactionResponse> = {
  path: '/etcdserverpb.KV/Compact',
  encode: encodeCompactionRequest,
  decode: decodeCompactionResponse,
};

const watch: Method<WatchRequest, WatchResponse> = {
  path: '/etcdserverpb.Watch/Watch',
  // Without it, a member that is cut off from the others keeps the stream open and silent.
  metadata: { hasleader: 'true' },
  encode: encodeWatchRequest,
  decode: decodeWatchResponse,
};

export const methods = { range, txn, compact, watch };
