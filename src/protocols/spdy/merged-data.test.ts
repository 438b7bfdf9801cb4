import { expect, it } from 'vitest';
import { isMovable } from '../../base/bytes/shared-buffer.ts';
import { FrameParser } from './frame-parser.ts';
import { dataHead, Flag, ping } from './frames.ts';
import { mergedData } from './merged-data.ts';

const data = (stream: number, bytes: Buffer, flags = 0) =>
  Buffer.concat([dataHead(stream, bytes.length, flags), bytes]);
const a = Buffer.alloc(20_000, 'a');
const b = Buffer.alloc(30_000, 'b');

/** A chunk as a socket reads it, in memory of its own. */
const read = (...frames: readonly Buffer[]) => {
  const all = Buffer.concat(frames);
  return Buffer.from(new Uint8Array(all).buffer);
};

it('joins the data of a stream in movable memory, and frees the chunk', () => {
  const chunk = read(data(1, a), data(1, b));
  const [merged, ...rest] = [...mergedData(new FrameParser(), chunk)];
  expect(rest).toEqual([]);
  expect(merged).toMatchObject({ kind: 'data', stream: 1, isLast: false });
  const { bytes } = merged as { bytes: Buffer };
  expect(bytes.equals(Buffer.concat([a, b]))).toBe(true);
  expect(isMovable(bytes)).toBe(true);
  expect(chunk).toHaveLength(0);
});

it('keeps the order of streams and of other frames', () => {
  const chunk = read(data(1, a), data(3, b), ping(7), data(3, a), data(3, Buffer.alloc(0), Flag.fin));
  const found = [...mergedData(new FrameParser(), chunk)].map((frame) =>
    frame.kind === 'data' ? [frame.stream, frame.bytes.length, frame.isLast] : frame.type,
  );
  expect(found).toEqual([[1, 20_000, false], [3, 30_000, false], 6, [3, 20_000, true]]);
});

it('keeps a chunk that ends within a frame head until it is complete', () => {
  const parser = new FrameParser();
  const next = data(1, b);
  const first = [...mergedData(parser, read(data(1, a), next.subarray(0, 5)))];
  expect(first).toHaveLength(1);
  const second = [...mergedData(parser, read(next.subarray(5)))] as { bytes: Buffer }[];
  expect(second.map(({ bytes }) => bytes.equals(b))).toEqual([true]);
});
