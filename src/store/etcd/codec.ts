/**
 * Encodes and decodes the messages of messages.ts as protobuf. Field numbers are etcd's; fields that this store does not
 * use are neither written nor read. Messages are written backwards, as ProtoWriter expects. Decoded bytes share the memory
 * of their message.
 */
import { ProtoReader } from '../../protocols/protobuf/reader.ts';
import { ProtoWriter } from '../../protocols/protobuf/writer.ts';
import type {
  CompactionRequest,
  CompactionResponse,
  Compare,
  KeyValue,
  RangeRequest,
  RangeResponse,
  RequestOperation,
  ResponseHeader,
  TxnRequest,
  TxnResponse,
  WatchEvent,
  WatchRequest,
  WatchResponse,
} from './messages.ts';

/** Shared by all requests, since each is encoded synchronously. */
const out = new ProtoWriter(16_384);

export function encodeRangeRequest(request: RangeRequest): Buffer {
  writeRange(request);
  return out.finish();
}

export function encodeTxnRequest({ compare, success, failure }: TxnRequest): Buffer {
  for (let i = failure.length - 1; i >= 0; i--) out.message(3, () => writeOperation(failure[i]!));
  for (let i = success.length - 1; i >= 0; i--) out.message(2, () => writeOperation(success[i]!));
  for (let i = compare.length - 1; i >= 0; i--) out.message(1, () => writeCompare(compare[i]!));
  return out.finish();
}

export function encodeCompactionRequest({ revision }: CompactionRequest): Buffer {
  out.number(1, revision);
  return out.finish();
}

export function encodeWatchRequest({ create }: WatchRequest): Buffer {
  const { key, rangeEnd, startRevision, progressNotify, previous, fragment } = create;
  out.message(1, () => {
    out.boolean(8, fragment);
    out.boolean(6, previous);
    out.boolean(4, progressNotify);
    out.number(3, startRevision);
    out.bytes(2, rangeEnd);
    out.bytes(1, key);
  });
  return out.finish();
}

function writeRange({ key, rangeEnd, limit, revision, keysOnly }: RangeRequest): void {
  if (keysOnly) out.boolean(8, true);
  if (revision) out.number(4, revision);
  if (limit) out.number(3, limit);
  if (rangeEnd) out.bytes(2, rangeEnd);
  out.bytes(1, key);
}

function writeOperation(operation: RequestOperation): void {
  if ('put' in operation) {
    const { key, value } = operation.put;
    out.message(2, () => {
      out.bytes(2, value);
      out.bytes(1, key);
    });
  } else if ('range' in operation) {
    out.message(1, () => writeRange(operation.range));
  } else {
    out.message(3, () => out.bytes(1, operation.deleteRange.key));
  }
}

/** Omits the comparison, since zero means "equal". The operand is written even when it is zero. */
function writeCompare({ target, key, version, modRevision }: Compare): void {
  if (modRevision !== undefined) out.number(6, modRevision);
  if (version !== undefined) out.number(4, version);
  out.bytes(3, key);
  out.number(2, target);
}

export function decodeRangeResponse(message: Buffer): RangeResponse {
  return readRangeResponse(new ProtoReader(message));
}

export function decodeTxnResponse(message: Buffer): TxnResponse {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  let succeeded = false;
  const responses: { range?: RangeResponse }[] = [];
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) succeeded = reader.boolean();
    else if (field === 3) responses.push(reader.message(readOperation));
    else reader.skip();
  }
  return { header, succeeded, responses };
}

export function decodeCompactionResponse(message: Buffer): CompactionResponse {
  const reader = new ProtoReader(message);
  let header = NO_HEADER;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) header = reader.message(readHeader);
    else reader.skip();
  }
  return { header };
}

export function decodeWatchResponse(message: Buffer): WatchResponse {
  const reader = new ProtoReader(message);
  const response = {
    header: NO_HEADER,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events: [] as WatchEvent[],
  };
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 11) response.events.push(reader.message(readEvent));
    else if (field === 1) response.header = reader.message(readHeader);
    else if (field === 3) response.created = reader.boolean();
    else if (field === 4) response.canceled = reader.boolean();
    else if (field === 5) response.compactRevision = reader.number();
    else if (field === 6) response.cancelReason = reader.string();
    else if (field === 7) response.fragment = reader.boolean();
    else reader.skip();
  }
  return response;
}

const EMPTY: Buffer = Buffer.alloc(0);
const NO_HEADER: ResponseHeader = { revision: 0, term: 0 };

function readHeader(reader: ProtoReader): ResponseHeader {
  let revision = 0;
  let term = 0;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 3) revision = reader.number();
    else if (field === 4) term = reader.number();
    else reader.skip();
  }
  return { revision, term };
}

function readRangeResponse(reader: ProtoReader): RangeResponse {
  let header = NO_HEADER;
  let more = false;
  const kvs: KeyValue[] = [];
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 2) kvs.push(reader.message(readKeyValue));
    else if (field === 1) header = reader.message(readHeader);
    else if (field === 3) more = reader.boolean();
    else reader.skip();
  }
  return { header, kvs, more };
}

function readOperation(reader: ProtoReader): { range?: RangeResponse } {
  const operation: { range?: RangeResponse } = {};
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) operation.range = reader.message(readRangeResponse);
    else reader.skip();
  }
  return operation;
}

function readKeyValue(reader: ProtoReader): KeyValue {
  const kv = { key: EMPTY, modRevision: 0, version: 0, value: EMPTY };
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) kv.key = reader.bytes();
    else if (field === 3) kv.modRevision = reader.number();
    else if (field === 4) kv.version = reader.number();
    else if (field === 5) kv.value = reader.bytes();
    else reader.skip();
  }
  return kv;
}

function readEvent(reader: ProtoReader): WatchEvent {
  let type: WatchEvent['type'] = 0;
  let kv: KeyValue = { key: EMPTY, modRevision: 0, version: 0, value: EMPTY };
  let previous: KeyValue | null = null;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) type = reader.number() === 0 ? 0 : 1;
    else if (field === 2) kv = reader.message(readKeyValue);
    else if (field === 3) previous = reader.message(readKeyValue);
    else reader.skip();
  }
  return { type, kv, previous };
}
