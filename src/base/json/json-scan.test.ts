import { expect, it } from 'vitest';
import { endOfStructure, parseWithout } from './json-scan.ts';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

it('finds the end of an object or list, whatever its strings contain', () => {
  const long = ['\\', '\\\\', 'quote', '\n'].map((end) => 'x'.repeat(31).concat(end, 'y'.repeat(40), end));
  for (const value of [{}, [], { a: '}"\\' }, [['{"'], { b: ['\\\\"]'] }, 'é'], long]) {
    const json = bytes(value);
    expect(endOfStructure(Buffer.concat([json, Buffer.from('}]"')]), 0)).toBe(json.length);
  }
});

it('parses JSON without fields of a name at a depth', () => {
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

it('parses everything of JSON that is written otherwise', () => {
  const object = { list: [{ schema: { a: 1 } }] };
  expect(parseWithout(Buffer.from(JSON.stringify(object, undefined, 2)), [{ name: 'schema', depth: 3 }])).toEqual(
    object,
  );
});
