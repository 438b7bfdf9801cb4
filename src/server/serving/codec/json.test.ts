import { expect, it, vi } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { decodeJson, MAX_BODY_PARTS } from './json.ts';

const decode = (text: string, depth = 500) => decodeJson(Buffer.from(text), depth);

it.each([
  ['', 'unexpected end of JSON input'],
  ['{"kind":', 'unexpected end of JSON input'],
  ['"abc', 'unterminated string in JSON at position 4'],
  ['{kind: Pod}', "expected property name or '}' in JSON at position 1"],
  ['[1,]', "unexpected token ']'"],
  ['["a",,]', "unexpected token ','"],
  ['[1:"a"]', "expected ',' or ']' after array element"],
  ['{} x', 'unexpected non-whitespace character after JSON at position 3'],
  ['undefined', 'invalid JSON'],
  ['[object Object]', 'invalid JSON'],
])('a syntax error in %j is described', (text, message) => {
  expect(() => decode(text)).toThrow(`json parse error: ${message}`);
});

it.each(['', ' '.repeat(40)])('a syntax error is described without a word of the text between %j', (space) => {
  for (const text of ['{"a":swordfish}', '{"a":"swordfish",,}', "['swordfish']", '["swordfish"\n,"]', 'swordfish']) {
    expect(() => decode(space + text + space)).toThrow(/^json parse error: (?!.*swo)/s);
  }
});

it('decodes like JSON.parse', () => {
  forAll(fc.jsonValue(), (value) => {
    const text = JSON.stringify(value);
    // The key is rejected, as the next tests show.
    fc.pre(!text.includes('__proto__'));
    expect(decode(text)).toEqual(JSON.parse(text));
  });
});

it('rejects too deep nesting, and nothing else', () => {
  expect(decode('['.repeat(500) + ']'.repeat(500))).toBeDefined();
  expect(() => decode('['.repeat(501) + ']'.repeat(501))).toThrow('the body is nested deeper than 500 levels');
  expect(() => decode('{"a":'.repeat(100_000))).toThrow('nested deeper');
  expect(() => decode(`{"${']'.repeat(1000)}":${'['.repeat(501)}${']'.repeat(501)}}`)).toThrow('nested deeper');
  expect(decode(`["${'[{'.repeat(1000)}", "\\"${'['.repeat(1000)}"]`)).toHaveLength(2);
  expect(decode(JSON.stringify(Array(2000).fill([])))).toHaveLength(2000);
});

it('rejects invalid UTF-8', () => {
  expect(() => decodeJson(Buffer.from([0x22, 0xff, 0xfe, 0x22]), 500)).toThrow('the body is not valid UTF-8');
});

it.each([
  '{"__proto__":{"polluted":true}}',
  '{"metadata":{"labels":{"__proto__":"x"}}}',
  '[{"a":[{"\\u005f_proto__":1}]}]',
  '{"\\u005F\\u005fproto__":1}',
])('rejects the key in %s', (text) => {
  expect(() => decode(text)).toThrow('the key "__proto__" is not allowed');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it('accepts the same text in a value', () => {
  expect(decode('{"a":"__proto__","b":"\\u003c"}')).toEqual({ a: '__proto__', b: '<' });
  expect(decode('{"constructor":1}')).toHaveProperty('constructor', 1);
});

const long = 'x'.repeat(300_000);
const fields = (count: number) => Array.from({ length: count }, (_, i) => `"${i}":1`).join(',');

it.each([
  ['fields', `{"long":"${long}",${fields(MAX_BODY_PARTS / 2)}}`],
  ['list items', `["${long}"${',1'.repeat(MAX_BODY_PARTS)}]`],
  ['lists', `["${long}"${',[]'.repeat(MAX_BODY_PARTS / 2)}]`],
  ['objects', `["${long}"${',{}'.repeat(MAX_BODY_PARTS / 2)}]`],
])('a body with many parts is rejected before it is parsed: %s', (_, text) => {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    expect(() => decode(text)).toThrow('Request entity too large: limit is 250000 fields and list items');
    expect(parse).not.toHaveBeenCalled();
  } finally {
    parse.mockRestore();
  }
});

it('a body with many parts is decoded up to the maximum, whatever the strings contain', () => {
  const items = `["${long}"${',1'.repeat(MAX_BODY_PARTS - 1)}]`;
  expect(decode(items)).toHaveLength(MAX_BODY_PARTS);
  const text = JSON.stringify({ text: ',:[{\\"'.repeat(100_000) });
  expect(decode(text)).toEqual(JSON.parse(text));
});
