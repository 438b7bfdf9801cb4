/** The methods of etcd v3 that this store calls. */
import type { Method } from '../../protocols/grpc/call.ts';
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
import type {
  CompactionRequest,
  CompactionResponse,
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
  WatchResponse,
} from './messages.ts';

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
  // Makes watches fail on a member without a leader, which would keep the stream open and silent.
  metadata: { hasleader: 'true' },
  encode: encodeWatchRequest,
  decode: decodeWatchResponse,
};

export const methods = { range, txn, compact, watch };
