import { describe, expect, it } from 'vitest';
import type { JsonSchema } from './json-schema.ts';
import { patternLimitErrors } from './pattern-limits.ts';
import { validateInTurns, validateValue } from './validator.ts';

const messages = (schema: JsonSchema, value: unknown, old?: unknown, path = 'spec') =>
  validateValue(schema, { value, old, path }).map(({ field, message }) => `${field}: ${message}`);

it.each<[name: string, schema: JsonSchema, value: unknown, expected: string[]]>([
  [
    'a type',
    { type: 'integer' },
    1.5,
    ['spec: Invalid value: "number": spec in body must be of type integer: "number"'],
  ],
  ['null', { type: 'string' }, null, ['spec: Invalid value: "null": spec in body must be of type string: "null"']],
  ['null where it is allowed', { type: 'string', nullable: true }, null, []],
  ['an integer as a number', { type: 'number' }, 3, []],
  [
    'int-or-string',
    { 'x-kubernetes-int-or-string': true },
    true,
    ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
  ],
  [
    'a maximum',
    { type: 'integer', maximum: 3, exclusiveMaximum: true },
    3,
    ['spec: Invalid value: 3: spec in body should be less than 3'],
  ],
  ['multiples', { type: 'number', multipleOf: 0.1 }, 0.3, []],
  [
    'a multiple',
    { type: 'integer', multipleOf: 5 },
    7,
    ['spec: Invalid value: 7: spec in body should be a multiple of 5'],
  ],
  ['a length', { type: 'string', maxLength: 2 }, 'abc', ['spec: Too long: may not be more than 2 bytes']],
  ['a length in characters', { type: 'string', maxLength: 2 }, '😀😀', []],
  [
    'a short text',
    { type: 'string', minLength: 1 },
    '',
    ['spec: Invalid value: "": spec in body should be at least 1 chars long'],
  ],
  [
    'a pattern',
    { type: 'string', pattern: '^a+$' },
    'b',
    ['spec: Invalid value: "b": spec in body should match \'^a+$\''],
  ],
  ['an enum', { type: 'string', enum: ['a', 'b'] }, 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
  [
    'a format',
    { type: 'string', format: 'date-time' },
    'today',
    ['spec: Invalid value: "today": spec in body must be of type date-time: "today"'],
  ],
  ['a format that is not known', { type: 'string', format: 'colour' }, 'red', []],
  [
    'too many items',
    { type: 'array', maxItems: 1, items: { type: 'string' } },
    ['a', 'b'],
    ['spec: Too many: 2: must have at most 1 items'],
  ],
  [
    'an item',
    { type: 'array', items: { type: 'string' } },
    ['a', 1],
    ['spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer"'],
  ],
  [
    'a value of a map',
    { type: 'object', additionalProperties: { type: 'string' } },
    { a: 1 },
    ['spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"'],
  ],
  ['a required field', { type: 'object', required: ['a'] }, {}, ['spec.a: Required value']],
  [
    'one of several',
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1, b: 1 },
    ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [
    'none of several',
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    ['<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)', 'spec.a: Required value'],
  ],
  [
    'all of several',
    { allOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1 },
    ['spec.b: Required value', '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)'],
  ],
  [
    'what must not fit',
    { not: { required: ['a'] } },
    { a: 1 },
    ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
  ],
])('values are rejected in the words of Kubernetes: %s', (_, schema, value, expected) => {
  expect(messages(schema, value)).toEqual(expected);
});

describe('what an update leaves as it was is not complained about', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 2 },
      list: { type: 'array', items: { type: 'string', maxLength: 2 } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['key'],
        items: { type: 'object', properties: { key: { type: 'string' }, text: { type: 'string', maxLength: 2 } } },
      },
    },
  };

  it('in fields, and in items that are found by their keys', () => {
    const item = { key: 'a', text: 'long' };
    expect(messages(schema, { name: 'long', map: [{ key: 'b' }, item] }, { name: 'long', map: [item] })).toEqual([]);
  });

  it('in a list with keys whose items are in another order', () => {
    const keyed = { ...schema.properties!.map!, maxItems: 1 };
    const [a, b] = [{ key: 'a' }, { key: 'b', text: 'b' }];
    expect(messages(keyed, [b, a], [a, b])).toEqual([]);
    expect(messages(keyed, [b, { key: 'a', text: 'a' }], [a, b])).toHaveLength(1);
    expect(messages({ ...keyed, 'x-kubernetes-list-type': 'atomic' }, [b, a], [a, b])).toHaveLength(1);
  });

  it('but what changes is, and so is an item of a list without keys', () => {
    expect(messages(schema, { name: 'longer' }, { name: 'long' })).toHaveLength(1);
    expect(messages(schema, { list: ['long', 'a'] }, { list: ['long'] })).toHaveLength(1);
    expect(messages(schema, { list: ['long'] }, { list: ['long'] })).toEqual([]);
  });
});

it('a pattern that would backtrack for ever in JavaScript takes time linear in the text', () => {
  const schema: JsonSchema = { type: 'string', pattern: '^(a+)+$' };
  expect(messages(schema, `${'a'.repeat(50_000)}b`)).toHaveLength(1);
});

it('a validation with many patterns yields when its turn is spent, and finds the same', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string', pattern: '^a+$' } };
  const schema: JsonSchema = { type: 'object', properties: { a: list, b: { allOf: [list], not: list } } };
  const texts = Array.from({ length: 500 }, (_, i) => (i % 7 === 0 ? 'b' : 'a'.repeat(i)));
  const value = { a: texts, b: texts };
  const work = validateInTurns(schema, { value }, { isSpent: () => true });
  let turns = 0;
  let step = work.next();
  while (!step.done) {
    turns++;
    step = work.next();
  }
  expect(step.value).toEqual(validateValue(schema, { value }));
  expect(turns).toBeGreaterThan(30);
});

describe('a validation that takes long', () => {
  /** The result, the turns, and how often the value was looked at in the longest of them, when every pause is taken. */
  function inTurns(schema: JsonSchema, value: unknown, looks: { count: number }) {
    const work = validateInTurns(schema, { value }, { isSpent: () => true });
    let [turns, longest, before] = [1, 0, looks.count];
    let step = work.next();
    for (; !step.done; step = work.next()) {
      turns++;
      longest = Math.max(longest, looks.count - before);
      before = looks.count;
    }
    return { errors: step.value, turns, longest: Math.max(longest, looks.count - before) };
  }

  /** Objects that count how often their field is read. */
  function counted(count: number) {
    const looks = { count: 0 };
    const item = {
      get a() {
        looks.count++;
        return 'b';
      },
    };
    return { looks, items: new Array(count).fill(item) };
  }

  const many = (count: number, each: (i: number) => JsonSchema) => Array.from({ length: count }, (_, i) => each(i));
  const about = (schema: JsonSchema): JsonSchema => ({ items: { properties: { a: schema } } });

  it.each<[name: string, schema: JsonSchema]>([
    ['anyOf', { anyOf: many(600, (i) => about({ minLength: i + 2 })) }],
    ['allOf', { allOf: many(600, (i) => about({ maxLength: i + 2 })) }],
    ['oneOf', { oneOf: many(600, (i) => about({ minLength: i + 1 })) }],
    ['one inside another', { allOf: [{ anyOf: many(600, (i) => about({ minLength: i + 2 })) }] }],
  ])('yields between the schemas of one composition: %s', (_, schema) => {
    const { looks, items } = counted(200);
    const { errors, turns, longest } = inTurns(schema, items, looks);
    expect(turns).toBeGreaterThan(10);
    expect(longest).toBeLessThan(10_000);
    expect(errors).toEqual(validateValue(schema, { value: items }));
  });

  it('yields between the items of a long list, and does not check them again', () => {
    const { looks, items } = counted(60_000);
    const { errors, longest } = inTurns({ type: 'array', ...about({ maxLength: 3 }) }, items, looks);
    expect(errors).toEqual([]);
    expect(longest).toBeLessThan(10_000);
    expect(looks.count).toBeLessThan(130_000);
  });

  it('yields between the fields of a large object', () => {
    const { looks, items } = counted(60_000);
    const value = Object.fromEntries(items.map((item, i) => [`f${i}`, item]));
    const schema: JsonSchema = { additionalProperties: { properties: { a: { maxLength: 3 } } } };
    const { errors, longest } = inTurns(schema, value, looks);
    expect(errors).toEqual([]);
    expect(longest).toBeLessThan(10_000);
  });

  it('yields while it matches one long text', () => {
    const schema: JsonSchema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };
    const { errors, turns } = inTurns(schema, `${'a'.repeat(1_000_000)}!`, { count: 0 });
    expect(errors).toHaveLength(1);
    expect(turns).toBeGreaterThan(30);
  });

  const rejected = [expect.objectContaining({ message: expect.stringContaining('checking them takes too long') })];

  it('looks at a long text or a large object once, or gives up', () => {
    const text = 'a'.repeat(1_000_000);
    expect(validateValue({ anyOf: many(3_000, (i) => ({ maxLength: i })) }, { value: text })).toEqual(rejected);
    const object = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`f${i}`, 1]));
    let listed = 0;
    const watched = new Proxy(object, {
      ownKeys: (target) => {
        listed++;
        return Reflect.ownKeys(target);
      },
    });
    const same = { enum: [object] } as JsonSchema;
    const few = many(3_000, (i) => ({ minProperties: i, properties: { [`f${i}`]: { maximum: 1 } } }));
    expect(validateValue({ allOf: [...few, ...new Array(3_000).fill(same)] }, { value: watched })).toEqual([]);
    expect(listed).toBeLessThan(10);
  });
});

it('a validation with few patterns does not ask whether its turn is spent', () => {
  const schema: JsonSchema = { type: 'array', items: { type: 'string', pattern: '^a+$' } };
  const work = validateInTurns(schema, { value: ['a', 'b'] }, { isSpent: () => expect.fail('asked') });
  expect(work.next()).toMatchObject({ done: true, value: [{ field: '[1]' }] });
});

it('the patterns of a definition may not become too large when they are compiled', () => {
  const fields = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'string', pattern: `(a|b){1,500}${i}` }]),
    );
  const schema = (count: number): JsonSchema => ({ type: 'object', properties: fields(count) as never });
  expect(patternLimitErrors([schema(12)], 'spec')).toEqual([]);
  expect(patternLimitErrors([schema(12), schema(12), schema(12)], 'spec')).toEqual([]);
  expect(patternLimitErrors([schema(40)], 'spec')).toMatchObject([{ reason: 'FieldValueForbidden', field: 'spec' }]);
});

it('a long list is compared with a long enumeration in linear time', () => {
  let looks = 0;
  const allowed = (at: number) => ({
    b: 1,
    get a() {
      looks++;
      return at;
    },
  });
  const count = 500;
  const items = { type: 'object', enum: Array.from({ length: count }, (_, at) => allowed(at)) };
  const list = new Array(count).fill({ a: count - 1, b: 1 });
  expect(messages({ type: 'array', items } as JsonSchema, list)).toEqual([]);
  expect(looks).toBeLessThan(10 * count);
  expect(messages({ type: 'array', items } as JsonSchema, [{ a: count, b: 1 }])).toHaveLength(1);
});

it('a long text that a pattern would take too long to match is rejected, and another is matched', () => {
  const schema = (pattern: string): JsonSchema => ({ type: 'string', pattern });
  let seed = 1;
  const random = (length: number) => {
    const letter = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return 'ab'[(seed >> 16) & 1];
    };
    return Array.from({ length }, letter).join('');
  };
  expect(messages(schema('[ab]*a[ab]{900}[xy]'), random(90_000))).toEqual([
    expect.stringContaining("is too long to be matched with '[ab]*a[ab]{900}[xy]'"),
  ]);
  const base64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$';
  expect(messages(schema(base64), random(400_000))).toEqual([]);
  expect(messages(schema(base64), random(400_001))).toEqual([expect.stringContaining('should match')]);
});

describe('a value that its schema would check for too long', () => {
  const rejected = [expect.stringContaining('checking them takes too long')];
  const array = (items: object) => ({ type: 'array', items }) as JsonSchema;
  const many = (count: number, each: (i: number) => object) => Array.from({ length: count }, (_, i) => each(i));

  it.each<[name: string, schema: JsonSchema, value: unknown]>([
    [
      'by patterns of alternatives',
      array({ anyOf: many(1_000, (i) => ({ pattern: `^v${i}$` })) }),
      new Array(9_000).fill('v999'),
    ],
    [
      'by other alternatives',
      array({ oneOf: many(1_000, (i) => ({ required: [`f${i}`] })) }),
      new Array(9_000).fill({ f999: 1 }),
    ],
    [
      'by alternatives that are about all of it',
      { anyOf: many(1_000, () => array({ type: 'integer', maximum: 0 })) },
      new Array(900).fill(1),
    ],
    ['by a pattern', array({ pattern: '(a?b?){500}z' }), new Array(9_000).fill('ab'.repeat(50))],
  ])('is rejected: %s', (_, schema, value) => {
    expect(messages(schema, value)).toEqual(rejected);
  });

  it('fits the first of many alternatives', () => {
    const anyOf = [{ type: 'string' }, ...many(1_000, (i) => ({ pattern: `^v${i}$` }))];
    expect(messages(array({ anyOf }), new Array(9_000).fill('w'))).toEqual([]);
  });
});

it('a validation with many alternatives yields, and does not apply them again', () => {
  let looks = 0;
  const item = {
    get a() {
      looks++;
      return 'b';
    },
  };
  const alternative: JsonSchema = { properties: { a: { enum: ['c'] } } };
  const schema: JsonSchema = { type: 'array', items: { oneOf: new Array(50).fill(alternative) } };
  const value = new Array(900).fill(item);
  const work = validateInTurns(schema, { value }, { isSpent: () => true });
  let turns = 0;
  let step = work.next();
  while (!step.done) {
    turns++;
    step = work.next();
  }
  expect(turns).toBeGreaterThan(5);
  expect(looks).toBeLessThan(2.5 * 50 * 900);
  expect(step.value).toEqual(validateValue(schema, { value }));
});
