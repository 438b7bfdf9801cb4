import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { endOfStructure, parseWithout } from './json-scan.ts';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

it('finds the end of an object or list, whatever its strings contain', () => {
  const long = ['\\', '\\\\', 'quote', '\n'].map((end) => 'x'.repeat(31).concat(end, 'y'.repeat(40), end));
  for (const value of [{}, [], { a: '}"\\' }, [['{"'], { b: ['\\\\"]'] }, 'é'], long]) {
    const json = bytes(value);
    expect(endOfStructure(Buffer.concat([json, Buffer.from('}]"')]), 0)).toBe(json.length);
  }
});

it('finds the end at any position in memory', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ']', 'é', '\u00a2', '\n'), maxLength: 40 });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
  }));
  forAll(fc.array(value), fc.nat(7), (list, offset) => {
    const json = JSON.stringify(list);
    const whole = Buffer.from(`${'"'.repeat(offset)}${json}]}""`);
    expect(endOfStructure(whole.subarray(offset), 0)).toBe(Buffer.byteLength(json));
  });
});

it('stops at the end of the JSON when a string or a structure does not end', () => {
  for (const text of ['["', '["a', '[{"abcde\\"', '[1', '']) {
    for (let offset = 0; offset < 4; offset++) {
      const json = Buffer.from('"'.repeat(offset) + text).subarray(offset);
      expect(endOfStructure(json, 0)).toBe(json.length);
    }
  }
});

it('parses JSON without the named fields at their depth', () => {
  const object = {
    schema: { a: 1 },
    list: [{ schema: { deep: { schema: '}' } }, name: '"schema":{' }, { schema: 'text' }],
  };
  const parsed = parseWithout(bytes(object), [{ name: 'schema', depth: 3 }]);
  expect(parsed).toEqual({
    schema: { a: 1 },
    list: [{ schema: null, name: '"schema":{' }, { schema: 'text' }],
  });
});

it('parses JSON with other formatting completely', () => {
  const object = { list: [{ schema: { a: 1 } }] };
  expect(parseWithout(Buffer.from(JSON.stringify(object, undefined, 2)), [{ name: 'schema', depth: 3 }])).toEqual(
    object,
  );
});
