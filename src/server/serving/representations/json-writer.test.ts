import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { JsonWriter } from './json-writer.ts';

it('writes strings and bytes in order, whatever the initial size', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  );
  forAll(fc.array(piece), fc.nat(64), (pieces, room) => {
    const out = new JsonWriter(room);
    for (const each of pieces)
      if (typeof each === 'string') out.text(each);
      else out.bytes(each);
    const wanted = Buffer.concat(pieces.map((each) => (typeof each === 'string' ? Buffer.from(each) : each)));
    expect(out.done().equals(wanted)).toBe(true);
  });
});
