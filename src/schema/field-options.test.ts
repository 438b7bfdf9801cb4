/** The options that custom kinds need: explicit nulls, empty values and unknown fields that are kept. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { s } from './builders.ts';
import { decode } from './decode/decode.ts';
import { invalid } from './field-error.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { applyMergePatch } from './patch/merge-patch.ts';
import { applyStrategicMergePatch } from './patch/strategic-merge.ts';
import type { TypeOf } from './schema.ts';
import { validate } from './validate.ts';

const create = { operation: 'create', old: undefined, subresource: undefined } as const;
const problems = (...[schema, value]: Parameters<typeof decode>) =>
  validate(schema, value, create).map(({ field, message }) => `${field}: ${message}`);

describe('a nullable field', () => {
  const neverNull = (value: unknown) => (value === null ? invalid('', value, 'rules must not see null') : undefined);
  const fields = {
    text: s.string({ nullable: true, default: 'preset', rules: [neverNull] }),
    plain: s.string({ default: 'preset' }),
    choice: s.enum(['a', 'b'], { nullable: true, required: true }),
    count: s.int64({ nullable: true, min: 1 }),
    list: s.list(s.string({ nullable: true, rules: [neverNull] }), { nullable: true, required: true }),
    map: s.map(s.int32({ nullable: true, min: 3 }), { nullable: true }),
    inner: s.object('Inner', { a: s.int32({ required: true }) }, { nullable: true, default: {} }),
    keyed: s.listMap(s.object('Item', { name: s.string() }, { nullable: true }), { keys: ['name'] }),
    unset: s.string({ nullable: true, default: null }),
  };
  const schema = s.object('T', fields);
  const nulls = { text: null, choice: null, count: null, list: null, map: null, inner: null };

  it('keeps an explicit null, which is not defaulted, while a null of another field is', () => {
    expect(decode(schema, { ...nulls, plain: null })).toEqual({ ...nulls, plain: 'preset', unset: null });
  });

  it('is defaulted when it is absent', () => {
    expect(decode(schema, {})).toEqual({ text: 'preset', plain: 'preset', inner: {}, unset: null });
  });

  it('keeps null items and values', () => {
    const input = { list: ['a', null], map: { a: null, b: 4 }, keyed: [null, { name: 'x' }] };
    expect(decode(schema, input)).toMatchObject(input);
    expect(decode(s.object('L', { list: s.list(s.string()) }), { list: [null] })).toEqual({ list: [''] });
  });

  it('is checked by nothing while it is null, and a null satisfies `required`', () => {
    const value = { ...nulls, list: [null], map: { a: null }, keyed: [null] };
    expect(problems(schema, value)).toEqual([]);
    expect(problems(schema, { ...nulls, choice: undefined, count: 0, map: { a: 1 } })).toEqual([
      'choice: Required value',
      'count: Invalid value: 0: must be greater than or equal to 1',
      'map[a]: Invalid value: 1: must be greater than or equal to 3',
    ]);
    const update = { ...create, operation: 'update', old: { ...nulls, keyed: [null, { name: 'y' }] } } as const;
    expect(validate(schema, { ...nulls, keyed: [{ name: 'y' }, null] }, update)).toEqual([]);
  });

  it('is deleted by null in a merge patch, and set to null by a JSON patch', () => {
    const current = decode(schema, nulls);
    expect(decode(schema, applyMergePatch(current, { text: null }))).toMatchObject({ text: 'preset', count: null });
    expect(applyStrategicMergePatch(schema, current, { inner: null, plain: 'x' })).toEqual({
      ...{ text: null, choice: null, count: null, list: null, map: null },
      ...{ plain: 'x', unset: null },
    });
    const patched = applyJsonPatch(decode(schema, {}), [{ op: 'replace', path: '/text', value: null }]);
    expect(decode(schema, patched)).toMatchObject({ text: null });
  });

  it('has null in its type', () => {
    type T = TypeOf<typeof schema>;
    expectTypeOf<T['text']>().toEqualTypeOf<string | null>();
    expectTypeOf<T['plain']>().toEqualTypeOf<string>();
    expectTypeOf<T['count']>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<T['list']>().toEqualTypeOf<(string | null)[] | null>();
  });
});

describe('a field that keeps empty values', () => {
  const fields = {
    list: s.list(s.string(), { keepEmpty: true, required: true }),
    map: s.map(s.string(), { keepEmpty: true }),
    text: s.string({ keepEmpty: true, default: 'preset', required: true }),
    choice: s.enum(['a'], { keepEmpty: true }),
    dropped: s.list(s.string()),
  };
  const schema = s.object('T', fields);

  it('tells empty from absent', () => {
    const sent = { list: [], map: {}, text: '', choice: '' };
    expect(decode(schema, { ...sent, dropped: [] })).toEqual(sent);
    expect(decode(schema, {})).toEqual({ text: 'preset' });
  });

  it('is checked like any other value, and an empty value satisfies `required`', () => {
    expect(problems(schema, { list: [], text: '' })).toEqual([]);
    expect(problems(schema, { text: '', choice: '' })).toEqual([
      'list: Required value',
      'choice: Unsupported value: "": supported values: "a"',
    ]);
  });
});

describe('an object that preserves unknown fields', () => {
  const Shape = s.object('Shape', { a: s.int32({ default: 1 }) });
  const schema = s.object(
    'T',
    { strict: Shape, open: s.use(Shape, { preserveUnknown: true }), count: s.int32() },
    { preserveUnknown: true },
  );
  const unknownIn = (input: unknown) => {
    const unknown: string[] = [];
    decode(schema, input, { unknown: (path) => unknown.push(path) });
    return unknown;
  };

  it('keeps them as they are, nulls and empty values included', () => {
    const input = { x: { y: [null, {}, []] }, z: null, count: 2, open: { more: 9007199254740992 } };
    expect(decode(schema, input)).toEqual({ ...input, open: { a: 1, more: 9007199254740992 } });
  });

  it('drops unknown fields of described objects that do not preserve them', () => {
    expect(decode(schema, { strict: { b: 1 }, open: { b: 1 } })).toEqual({ strict: { a: 1 }, open: { a: 1, b: 1 } });
  });

  it('reports only what is dropped', () => {
    expect(unknownIn({ x: 1, open: { b: null } })).toEqual([]);
    expect(unknownIn({ x: null, strict: { b: 1 }, open: { c: 1 } })).toEqual(['strict.b']);
  });

  it('still drops nulls of described fields and rejects wrong types', () => {
    expect(decode(schema, { count: null, x: null })).toEqual({ x: null });
    expect(() => decode(schema, { count: 'many' })).toThrow('of type int32');
  });

  it('takes hostile keys as plain data', () => {
    const decoded = decode(schema, JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'));
    expect(Object.entries(decoded)).toEqual([
      ['__proto__', { polluted: true }],
      ['constructor', 1],
    ]);
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  });

  it('survives every kind of patch', () => {
    const current = decode(schema, { x: { y: 1 }, count: 1 });
    expect(applyMergePatch(current, { x: { z: 2 } })).toEqual({ x: { y: 1, z: 2 }, count: 1 });
    expect(applyStrategicMergePatch(schema, current, { x: { z: 2 } })).toEqual({ x: { y: 1, z: 2 }, count: 1 });
    expect(applyJsonPatch(current, [{ op: 'add', path: '/x/z', value: 2 }])).toEqual({ x: { y: 1, z: 2 }, count: 1 });
  });

  it('shows them in its type', () => {
    expectTypeOf<TypeOf<typeof schema>['anything']>().toEqualTypeOf<unknown>();
    expectTypeOf<TypeOf<typeof schema>['count']>().toEqualTypeOf<number | undefined>();
  });
});

describe('an int64', () => {
  const schema = s.object('T', { spec: s.object('Spec', { seconds: s.int64(), sizes: s.list(s.int64()) }) });
  const message = (literal: string) => {
    try {
      return decode(schema, JSON.parse(`{"spec":{"seconds":${literal}}}`)).spec?.seconds;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('is exact, or rejected with the reason', () => {
    for (const exact of [9007199254740991, -9007199254740991, 0]) expect(message(String(exact))).toBe(exact);
    const rejection =
      'json: cannot unmarshal number into Go struct field Spec.spec.seconds of type int64: integers beyond 9007199254740991 cannot be stored exactly';
    for (const inexact of ['9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775807']) {
      expect(message(inexact)).toBe(rejection);
    }
    expect(message('1.5')).toContain('number 1.5 into Go struct field Spec.spec.seconds of type int64');
  });

  it('is rejected in a list, too', () => {
    expect(() => decode(schema, { spec: { sizes: [1, 2 ** 60] } })).toThrow('cannot be stored exactly');
  });
});
