import { describe, expect, it } from 'vitest';
import { rawJson, withSortedKeys } from './raw-json.ts';

describe('raw JSON', () => {
  it('escapes exactly the characters that Go escapes', () => {
    const text = '<a href="x?a=1&b=2">\u2028\u2029é😀\u007f\b\f\n\t\\/</a>';
    expect(rawJson({ '<k>': text })).toBe(
      '{"\\u003ck\\u003e":"\\u003ca href=\\"x?a=1\\u0026b=2\\"\\u003e\\u2028\\u2029é😀\u007f\\b\\f\\n\\t\\\\/\\u003c/a\\u003e"}',
    );
  });

  it('parses back to the same value', () => {
    const value = { b: [1, 2.5, -3, 1e21, 1e-7, true, null, 'x', {}, []], a: { 10: 1, 9: 2, z: undefined } };
    expect(JSON.parse(rawJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it('keeps the order of keys', () => {
    expect(rawJson({ b: 1, a: { d: 1, c: 2 } })).toBe('{"b":1,"a":{"d":1,"c":2}}');
    expect(rawJson({ b: 1, a: 2, 1: 3 })).toBe('{"1":3,"b":1,"a":2}');
  });

  it('sorts numeric keys if the others are sorted', () => {
    expect(rawJson({ 9: 1, 10: 2, $patch: 3, a: 4 })).toBe('{"$patch":3,"10":2,"9":1,"a":4}');
  });
});

it('sorts keys by their bytes, at every depth', () => {
  const value = { b: [{ d: 1, c: 2 }], B: 1, $a: { '\u{1f600}': 1, '\uffff': 2 } };
  expect(rawJson(withSortedKeys(value))).toBe('{"$a":{"\uffff":2,"😀":1},"B":1,"b":[{"c":2,"d":1}]}');
});
