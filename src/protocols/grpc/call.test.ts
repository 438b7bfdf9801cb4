import { expect, it } from 'vitest';
import { Call, prefixed } from './call.ts';
import { type GrpcError, GrpcStatus } from './status.ts';

const HEADERS = new Map([
  [':status', '200'],
  ['content-type', 'application/grpc'],
]);
const OK = new Map([['grpc-status', '0']]);

function calling(maxMessageBytes?: number) {
  const messages: string[] = [];
  const ends: (GrpcError | undefined)[] = [];
  const handler = { message: (text: string) => messages.push(text), ended: (error?: GrpcError) => ends.push(error) };
  const call = new Call({ decode: (bytes: Buffer) => String(bytes) }, handler, maxMessageBytes);
  call.headers(HEADERS, false);
  return { call, messages, ends };
}

it.each([1, 2, 3, 4, 5, 6, 7, 1_000])('a call reads messages that arrive in pieces of %i bytes', (size) => {
  const texts = ['', 'a', 'bc', 'd'.repeat(50), '', 'e'];
  const bytes = Buffer.concat(texts.map((text) => prefixed(Buffer.from(text))));
  const { call, messages, ends } = calling();
  for (let at = 0; at < bytes.length; at += size) call.data(bytes.subarray(at, at + size), false);
  call.headers(OK, true);
  expect(messages).toEqual(texts);
  expect(ends).toEqual([undefined]);
});

it('a call fails before the end when a message is larger than allowed', () => {
  const { call, messages, ends } = calling(10);
  call.data(prefixed(Buffer.alloc(10, 'x')), false);
  expect(messages).toEqual(['x'.repeat(10)]);
  call.data(prefixed(Buffer.alloc(11)).subarray(0, 5), false);
  expect(ends[0]?.code).toBe(GrpcStatus.RESOURCE_EXHAUSTED);
  expect(ends[0]?.message).toBe('received message larger than max (11 vs. 10)');
});

it('a call accepts messages of 4 MiB by default', () => {
  const { call, ends } = calling();
  const prefix = Buffer.from([0, 0, 0x40, 0, 0]);
  call.data(prefix, false);
  expect(ends).toEqual([]);
  const { call: other, ends: otherEnds } = calling();
  other.data(Buffer.from([0, 0, 0x40, 0, 1]), false);
  expect(otherEnds[0]?.code).toBe(GrpcStatus.RESOURCE_EXHAUSTED);
});
