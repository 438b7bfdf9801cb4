/** Wraps an object's bytes: in the envelope (runtime.Unknown) that names its kind, and in a watch event's frame. */
import type { WatchEvent } from '../../../api/reply.ts';
import { allocateSharable } from '../../../base/bytes/shared-buffer.ts';

/** The first bytes of every envelope. */
export const MAGIC = Buffer.from('k8s\0');

/** Returns all before the bytes of an object but their length: magic, apiVersion and kind, and their tag. */
export function envelopeHead(apiVersion: string, kind: string): Buffer {
  const type = Buffer.concat([delimited(1, Buffer.from(apiVersion)), delimited(2, Buffer.from(kind))]);
  return Buffer.concat([MAGIC, delimited(1, type), Buffer.from([tagOf(2)])]);
}

export function enveloped(head: Buffer, object: Buffer): Buffer {
  const out = allocateSharable(envelopedLength(head, object));
  writeEnveloped(out, 0, head, object);
  return out;
}

/** Frames a watch event: its length in four bytes, its type and, as a RawExtension, the enveloped object. */
export function eventFrame(type: WatchEvent['type'], head: Buffer, object: Buffer): Buffer {
  const envelope = envelopedLength(head, object);
  const raw = 1 + varintLength(envelope) + envelope;
  const message = 2 + type.length + 1 + varintLength(raw) + raw;
  const out = allocateSharable(4 + message);
  let at = out.writeUInt32BE(message, 0);
  out[at++] = tagOf(1);
  out[at++] = type.length;
  at += out.write(type, at, 'latin1');
  out[at++] = tagOf(2);
  at = writeVarint(out, at, raw);
  out[at++] = tagOf(1);
  at = writeVarint(out, at, envelope);
  writeEnveloped(out, at, head, object);
  return out;
}

interface ListParts {
  readonly head: Buffer;
  /** The ListMeta of the list. */
  readonly metadata: Buffer;
  readonly items: readonly Buffer[];
}

/** Wraps a list in its envelope. All lists of Kubernetes have these field numbers. */
export function envelopedList({ head, metadata, items }: ListParts, allocate: (length: number) => Buffer): Buffer {
  let length = fieldLength(metadata);
  for (const item of items) length += fieldLength(item);
  const out = allocate(head.length + varintLength(length) + length);
  let at = head.copy(out, 0);
  at = writeVarint(out, at, length);
  at = writeField(out, at, { number: 1, bytes: metadata });
  for (const bytes of items) at = writeField(out, at, { number: 2, bytes });
  return out;
}

/** Encodes a field of bytes. Its number is at most 15. */
export function delimited(number: number, bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(fieldLength(bytes));
  writeField(out, 0, { number, bytes });
  return out;
}

function envelopedLength(head: Buffer, { length }: Buffer): number {
  return head.length + varintLength(length) + length;
}

function writeEnveloped(out: Buffer, start: number, head: Buffer, object: Buffer): void {
  let at = start + head.copy(out, start);
  at = writeVarint(out, at, object.length);
  object.copy(out, at);
}

function fieldLength({ length }: Buffer): number {
  return 1 + varintLength(length) + length;
}

function writeField(out: Buffer, start: number, { number, bytes }: { number: number; bytes: Buffer }): number {
  out[start] = tagOf(number);
  const at = writeVarint(out, start + 1, bytes.length);
  return at + bytes.copy(out, at);
}

function tagOf(number: number): number {
  return number * 8 + 2;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) length++;
  return length;
}

function writeVarint(out: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) out[at++] = (rest & 0x7f) | 0x80;
  out[at++] = rest;
  return at;
}

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
