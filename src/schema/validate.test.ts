import { describe, expect, it } from 'vitest';
import { s } from './builders.ts';
import { type FieldError, invalid } from './field-error.ts';
import { dnsLabel } from './names.ts';
import { keys, matches, unique } from './rules.ts';
import type { RuleContext, Schema } from './schema.ts';
import { validate, validateInTurns } from './validate.ts';

const create = { operation: 'create', old: undefined, subresource: undefined } as const;
const told = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`);
const check = (fields: Record<string, Schema>, value: unknown, old?: unknown) =>
  told(validate(s.object('T', fields), value, old === undefined ? create : { ...create, operation: 'update', old }));

it('required is what is absent or empty, but not zero, false or an empty object', () => {
  const fields = {
    text: s.string({ required: true }),
    list: s.list(s.string(), { required: 'at least one' }),
    map: s.map(s.string(), { required: true }),
    object: s.object('O', {}, { required: true }),
    number: s.int32({ required: true }),
    flag: s.boolean({ required: true }),
  };
  expect(check(fields, { text: '', list: [], map: {} })).toEqual([
    'text: Required value',
    'list: Required value: at least one',
    'map: Required value',
    'object: Required value',
    'number: Required value',
    'flag: Required value',
  ]);
  expect(check(fields, { text: 'a', list: ['a'], map: { a: 'b' }, object: {}, number: 0, flag: false })).toEqual([]);
});

it('required is not asked inside an object that is absent', () => {
  expect(check({ a: s.object('A', { b: s.string({ required: true }) }) }, {})).toEqual([]);
});

it('limits are in the words of Kubernetes', () => {
  const fields = {
    least: s.int32({ min: 0 }),
    most: s.int32({ max: 5 }),
    between: s.int32({ min: 1, max: 65535 }),
    word: s.enum(['A', 'B']),
  };
  expect(check(fields, { least: -1, most: 6, between: 0, word: 'C' })).toEqual([
    'least: Invalid value: -1: must be greater than or equal to 0',
    'most: Invalid value: 6: must be less than or equal to 5',
    'between: Invalid value: 0: must be between 1 and 65535, inclusive',
    'word: Unsupported value: "C": supported values: "A", "B"',
  ]);
});

it('limits keep a value that is beyond them from the rules', () => {
  const rule = () => invalid('', 0, 'seen');
  expect(check({ n: s.int32({ min: 1, rules: [rule] }) }, { n: 0 })).toEqual([
    'n: Invalid value: 0: must be greater than or equal to 1',
  ]);
});

describe('immutable', () => {
  const fields = { name: s.string({ immutable: true }), selector: s.map(s.string(), { immutable: true }) };

  it('is what differs from before, by value', () => {
    expect(check(fields, { name: 'a', selector: { x: '1' } }, { name: 'a', selector: { x: '1' } })).toEqual([]);
    expect(check(fields, { selector: { x: '2' } }, { name: 'a', selector: { x: '1' } })).toEqual([
      'name: Invalid value: "": field is immutable',
      'selector: Invalid value: {"x":"2"}: field is immutable',
    ]);
  });

  it('and required is missed and changed when it goes', () => {
    expect(check({ name: s.string({ required: true, immutable: true }) }, {}, { name: 'a' })).toEqual([
      'name: Required value',
      'name: Invalid value: "": field is immutable',
    ]);
  });

  it('says nothing on a create', () => {
    expect(check(fields, { name: 'a' })).toEqual([]);
  });
});

describe('rules', () => {
  it('run for present values, after what is inside, with paths from the value', () => {
    const fields = {
      a: s.object('A', { b: s.string({ rules: [matches(dnsLabel)] }) }, { rules: [() => invalid('', 1, 'of a')] }),
      empty: s.string({ rules: [() => invalid('', '', 'never')] }),
    };
    const found = check(fields, { a: { b: 'X.' }, empty: '' });
    expect(found[0]).toMatch(/^a\.b: Invalid value: "X\.": a lowercase RFC 1123 label/);
    expect(found.slice(1)).toEqual(['a: Invalid value: 1: of a']);
  });

  it('see the surroundings', () => {
    const seen: RuleContext[] = [];
    const schema = s.object('T', {
      list: s.listMap(
        s.object('I', {
          k: s.string(),
          v: s.int32({
            rules: [
              (_: number, context: RuleContext) => {
                seen.push(context);
                return undefined;
              },
            ],
          }),
        }),
        { keys: ['k'] },
      ),
    });
    const old = {
      list: [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
    };
    const value = {
      list: [
        { k: 'b', v: 3 },
        { k: 'c', v: 4 },
      ],
    };
    validate(schema, value, { operation: 'update', old, subresource: 'status', apiVersion: 'v1' });
    expect(seen).toEqual([
      {
        operation: 'update',
        old: 2,
        parent: value.list[0],
        root: value,
        oldRoot: old,
        subresource: 'status',
        apiVersion: 'v1',
      },
      expect.objectContaining({ old: undefined, parent: value.list[1] }),
    ]);
  });

  it('match items by place where a list has no keys', () => {
    const rule = (value: number, { old }: RuleContext<number>) =>
      old !== undefined && value < old ? invalid('', value, `was ${old}`) : undefined;
    expect(check({ list: s.list(s.int32({ rules: [rule] })) }, { list: [1, 5, 1] }, { list: [2, 2] })).toEqual([
      'list[0]: Invalid value: 1: was 2',
    ]);
  });

  it('reach the values of maps and shapes that contain themselves', () => {
    const Node: Schema = s.object('N', { n: s.int32({ min: 0 }), next: s.lazy(() => Node) });
    expect(check({ map: s.map(Node) }, { map: { 'a b': { next: { next: { n: -1 } } } } })).toEqual([
      'map[a b].next.next.n: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });
});

it('a great many errors are not all told', () => {
  const list = s.list(s.object('I', { name: s.string({ required: true }), n: s.int32({ min: 1 }) }));
  const items = Array.from({ length: 50_000 }, () => ({ n: 0 }));
  const found = check({ list, last: s.string({ required: true }) }, { list: items });
  expect(found.length).toBeLessThan(1100);
  expect(found.at(-1)).toBe('last: Required value');
});

it('a great many errors come in the order of the description, whatever the order of the object', () => {
  const fields = {
    a: s.int32({ min: 1 }),
    b: s.string({ required: true }),
    c: s.int32({ min: 1 }),
    d: s.int32({ min: 1 }),
  };
  expect(check(fields, { d: 0, a: 0, c: 0 }).map((line) => line[0])).toEqual(['a', 'b', 'c', 'd']);
});

it('shared rules find what stands twice in a list', () => {
  const list = s.list(s.object('I', { name: s.string() }), { rules: [unique('name')] });
  expect(check({ list }, { list: [{ name: 'a' }, { name: 'a' }, {}, {}] })).toEqual([
    'list[1].name: Duplicate value: "a"',
  ]);
  expect(check({ list: s.list(s.string(), { rules: [unique()] }) }, { list: ['a', 'b', 'a'] })).toEqual([
    'list[2]: Duplicate value: "a"',
  ]);
});

it('shared rules look at the keys of a map', () => {
  const found = check(
    { data: s.map(s.string(), { rules: [keys(matches(dnsLabel))] }) },
    { data: { 'a b': '', c: '' } },
  );
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^data\[a b\]: Invalid value: "a b": a lowercase/);
});

describe('a validation in turns', () => {
  const looks = { count: 0 };
  const item = s.object('Item', {
    name: s.string({
      rules: [
        (name: string) => {
          looks.count++;
          return name === 'bad' ? invalid('', name, 'is bad') : undefined;
        },
      ],
    }),
  });
  const nested = s.list(s.object('Nested', { list: s.list(item) }));
  const schema = s.object('T', { list: s.list(item), map: s.map(item), nested });
  const context = { operation: 'create', old: undefined, subresource: undefined } as const;
  const items = (count: number) => Array.from({ length: count }, (_, i) => ({ name: i % 100 === 7 ? 'bad' : 'good' }));

  /** The errors, and how often the rule ran in the longest turn when every pause is taken. */
  function inTurns(value: object) {
    const work = validateInTurns(schema, value, context, { isSpent: () => true });
    if (!('next' in work)) return { errors: work, turns: 1, longest: 0 };
    let [turns, longest, before] = [1, 0, looks.count];
    let step = work.next();
    for (; !step.done; step = work.next()) {
      turns++;
      longest = Math.max(longest, looks.count - before);
      before = looks.count;
    }
    return { errors: step.value, turns, longest };
  }

  it.each<[string, object]>([
    ['a list', { list: items(3_000) }],
    ['a map', { map: Object.fromEntries(items(3_000).map((each, i) => [`k${i}`, each])) }],
    ['short lists in a list', { nested: Array.from({ length: 300 }, () => ({ list: items(10) })) }],
  ])('yields between the items of %s, and finds the same', (_, value) => {
    const { errors, turns, longest } = inTurns(value);
    expect(errors).toEqual(validate(schema, value, context));
    expect(turns).toBeGreaterThan(2_000);
    expect(longest).toBeLessThanOrEqual(10);
  });

  it('is done at once for a value of the usual size', () => {
    const value = { list: items(200), map: Object.fromEntries(items(200).map((each, i) => [`k${i}`, each])) };
    expect(inTurns(value)).toEqual({ errors: validate(schema, value, context), turns: 1, longest: 0 });
  });
});
