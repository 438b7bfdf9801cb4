import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { Http2Error } from './frames.ts';
import { encodeHeaders, HeaderDecoder } from './hpack.ts';

const decode = (hex: string) => [...new HeaderDecoder().decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'))];

it('headers as bytes are decoded as they were encoded', () => {
  const text = fc.string({ unit: 'grapheme-ascii', maxLength: 400 });
  forAll(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }), (headers) => {
    expect([...new HeaderDecoder().decode(encodeHeaders(headers))]).toEqual(headers);
  });
});

// The examples of RFC 7541, appendix C, that need no dynamic table.
it.each([
  ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', [['custom-key', 'custom-header']]],
  ['040c 2f73 616d 706c 652f 7061 7468', [[':path', '/sample/path']]],
  ['1008 7061 7373 776f 7264 0673 6563 7265 74', [['password', 'secret']]],
  ['82', [[':method', 'GET']]],
  ['418c f1e3 c2e5 f23a 6ba0 ab90 f4ff', [[':authority', 'www.example.com']]],
  ['20 88', [[':status', '200']]],
])('headers as bytes: %s', (hex, headers) => {
  expect(decode(hex)).toEqual(headers);
});

it.each([
  ['an entry of a table that is empty', 'be'],
  ['an entry without a number', '80'],
  ['a table that was not offered', '3fe11f'],
  ['a name that is cut off', '000a61'],
  ['a number without end', 'ffffffffffff'],
  ['Huffman code that fills up with other than ones', '0001 61 81 00'],
  ['Huffman code that fills up with a whole byte', '0001 61 82 1fff'],
])('headers as bytes are rejected with %s', (_, hex) => {
  expect(() => decode(hex)).toThrow(Http2Error);
});

it('headers as bytes cause only an Http2Error when they are malformed', () => {
  forAll(fc.uint8Array({ maxLength: 60 }), (bytes) => {
    try {
      new HeaderDecoder().decode(Buffer.from(bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(Http2Error);
    }
  });
});

it('headers as bytes are cached up to a limit', () => {
  const decoder = new HeaderDecoder();
  const block = encodeHeaders([['grpc-status', '0']]);
  const first = decoder.decode(block);
  expect(decoder.decode(Buffer.from(block))).toBe(first);
  for (let i = 0; i < 100; i++) decoder.decode(encodeHeaders([['grpc-message', String(i)]]));
  expect(decoder.decode(block)).not.toBe(first);
  expect(decoder.decode(block)).toEqual(first);
});
