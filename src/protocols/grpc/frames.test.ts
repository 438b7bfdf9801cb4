import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { Flag, FrameSplitter, frame, Http2Error, unpadded } from './frames.ts';

const frames = fc.array(
  fc.record({
    type: fc.nat(12),
    flags: fc.nat(255),
    stream: fc.nat(2 ** 31 - 1),
    payload: fc.uint8Array({ maxLength: 50 }).map((bytes): Buffer => Buffer.from(bytes)),
  }),
);

it('finds frames, however the bytes arrive', () => {
  forAll(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, sizes) => {
    const bytes = Buffer.concat(sent.map(({ payload, ...head }) => frame(head, payload)));
    const found: typeof sent = [];
    const splitter = new FrameSplitter();
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length]!;
      splitter.push(bytes.subarray(at, at + size), {
        frame: (type, flags, stream, payload) => void found.push({ type, flags, stream, payload }),
      });
      at += size;
    }
    expect(found).toEqual(sent);
  });
});

it('rejects a frame that is too long before it has arrived', () => {
  const splitter = new FrameSplitter();
  const head = Buffer.from('004001000000000001', 'hex');
  expect(() => splitter.push(head, { frame: () => expect.unreachable() })).toThrow(Http2Error);
});

it('strips padding and priority', () => {
  const payload = Buffer.from([2, 0, 0, 0, 0, 9, 0x61, 0x62, 0, 0]);
  expect(unpadded(payload, Flag.PADDED | Flag.PRIORITY).toString()).toBe('ab');
  expect(unpadded(payload, 0)).toBe(payload);
  expect(() => unpadded(Buffer.from([9, 1]), Flag.PADDED)).toThrow(Http2Error);
});
