import { expect, it } from 'vitest';
import { fc, forAll } from '../../test/support/property-runs.ts';
import { s } from './builders.ts';
import { Code, quote } from './code.ts';
import { decode } from './decode/decode.ts';
import { invalid } from './field-error.ts';
import type { ObjectSchema } from './schema.ts';
import { validate } from './validate.ts';

it('written code finds constants by their names, each kept once', () => {
  const code = new Code();
  const list = [1, 2];
  expect(code.constant(list)).toBe(code.constant(list));
  code.add(`return ${code.constant(list)}.length + add;`);
  expect(code.compile<(add: number) => number>('add')(3)).toBe(5);
});

it('written code never takes a name or a word of a description for code', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('"]; throw 1; //', "'", '`$', '\\', '\u2028', '__proto__', 'constructor', '*/', '\n'),
  );
  forAll(hostile, hostile, hostile, (field, shape, word) => {
    const fields = Object.fromEntries([[field, s.enum([word || 'a'], { default: word || 'a', required: true })]]);
    const schema = s.object(shape, fields, {
      rules: [(value: object) => invalid('', Object.keys(value), 'seen')],
    }) as unknown as ObjectSchema<any>;
    const decoded = decode(schema, {});
    expect(Object.keys(decoded)).toEqual([field]);
    expect(Object.getOwnPropertyDescriptor(decoded, field)?.value).toBe(word || 'a');
    const found = validate(schema, decoded, { operation: 'create', old: undefined, subresource: undefined });
    expect(found.map(({ message }) => message)).toEqual([`Invalid value: ${JSON.stringify([field])}: seen`]);
  });
});

it('written code quotes texts as JavaScript reads them', () => {
  forAll(fc.string({ unit: 'binary' }), (text) => {
    const code = new Code();
    code.add(`return ${quote(text)};`);
    expect(code.compile<() => string>('')()).toBe(text);
  });
});
