import { describe, expect, it } from 'vitest';
import { atOnce, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import type { JsonSchema, ValidationRule } from '../../../json-schema/json-schema.ts';
import { ruleErrors } from './rule-errors.ts';
import { ruleLimitErrors } from './rule-limits.ts';
import { runRules } from './run-rules.ts';

const PATH = 'schema';

/** A kind whose spec has these fields and rules. */
const kind = (properties: Readonly<Record<string, JsonSchema>>, ...rules: ValidationRule[]): JsonSchema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
});

const texts = (errors: readonly { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

const defined = (schema: JsonSchema) => texts(atOnce(ruleErrors(schema, PATH, NEVER_SPENT)));
const checked = (schema: JsonSchema, spec: unknown, old?: unknown) => {
  const object = (value: unknown) => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: value,
  });
  return texts(atOnce(runRules(schema, object(spec), old === undefined ? undefined : object(old), NEVER_SPENT)));
};

const INTEGER: JsonSchema = { type: 'integer' };
const STRING: JsonSchema = { type: 'string' };
const AT = `${PATH}.properties[spec].x-kubernetes-validations[0]`;

describe('values', () => {
  it('must comply with the rules of their schema', () => {
    const schema = kind({ min: INTEGER, max: INTEGER }, { rule: 'self.min <= self.max' });
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { min: 1, max: 2 })).toEqual([]);
    expect(checked(schema, { min: 3, max: 2 })).toEqual(['spec: Invalid value: failed rule: self.min <= self.max']);
  });

  it('have types that JSON has not', () => {
    const schema = kind(
      {
        at: { type: 'string', format: 'date-time' },
        for: { type: 'string', format: 'duration' },
        part: { type: 'number' },
      },
      { rule: `self.at + self.__for__ > timestamp('2026-01-01T00:00:00Z') && self.part < 1.5` },
    );
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { at: '2025-12-31T23:59:59Z', for: '2s', part: 1 })).toEqual([]);
    expect(checked(schema, { at: '2025-12-31T23:59:59Z', for: '1s', part: 1 })).toHaveLength(1);
  });

  it('are found by escaped names', () => {
    const schema = kind(
      { namespace: STRING, 'a-b.c/d__e': INTEGER },
      { rule: `self.__namespace__ == 'x' && self.a__dash__b__dot__c__slash__d__underscores__e == 1` },
    );
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { namespace: 'x', 'a-b.c/d__e': 1 })).toEqual([]);
  });

  it('of either type are dynamic', () => {
    const schema = kind(
      { port: { 'x-kubernetes-int-or-string': true } },
      { rule: `type(self.port) == int ? self.port > 0 : self.port.startsWith('p')` },
    );
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { port: 5 })).toEqual([]);
    expect(checked(schema, { port: 'p' })).toEqual([]);
    expect(checked(schema, { port: 'x' })).toHaveLength(1);
  });

  it('that the schema does not describe are not visible', () => {
    const schema = kind(
      { free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      { rule: 'has(self.free.a)' },
    );
    expect(defined(schema)).toEqual([expect.stringContaining('undefined field')]);
  });

  it('of embedded objects have a kind and a name', () => {
    const inside: JsonSchema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const schema = kind({ inside }, { rule: `self.inside.kind == 'Pod' && self.inside.metadata.name == 'b'` });
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { inside: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } } })).toEqual([]);
  });

  it('in lists and maps are checked one by one', () => {
    const item: JsonSchema = { ...INTEGER, 'x-kubernetes-validations': [{ rule: 'self > 0' }] };
    const schema = kind({
      list: { type: 'array', maxItems: 5, items: item },
      map: { type: 'object', maxProperties: 5, additionalProperties: item },
    });
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { list: [1, -1], map: { a: 0 } })).toEqual([
      'spec.list[1]: Invalid value: -1: failed rule: self > 0',
      'spec.map[a]: Invalid value: 0: failed rule: self > 0',
    ]);
  });

  it('at the root are known by name', () => {
    const schema: JsonSchema = { type: 'object', 'x-kubernetes-validations': [{ rule: `self.metadata.name == 'b'` }] };
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, {})).toEqual(["<nil>: Invalid value: failed rule: self.metadata.name == 'b'"]);
  });
});

describe('lists with a list type', () => {
  const set: JsonSchema = { type: 'array', maxItems: 9, items: STRING, 'x-kubernetes-list-type': 'set' };
  const item: JsonSchema = {
    type: 'object',
    required: ['name'],
    properties: { name: STRING, size: INTEGER, tags: set },
  };
  const map: JsonSchema = {
    ...{ type: 'array', maxItems: 9, items: item },
    ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  };
  const atomic: JsonSchema = { type: 'array', maxItems: 9, items: STRING };
  const holds = (rule: string, spec: unknown) => {
    const schema = kind({ set, other: set, map, merge: map, atomic }, { rule });
    expect(defined(schema)).toEqual([]);
    return checked(schema, spec).length === 0;
  };

  it('are equal in any order', () => {
    expect(holds('self.set == self.other', { set: ['a', 'b'], other: ['b', 'a'] })).toBe(true);
    expect(holds('self.set == self.other', { set: ['a', 'b'], other: ['b', 'c'] })).toBe(false);
    expect(holds('self.set == self.other', { set: ['a', 'b'], other: ['b'] })).toBe(false);
    expect(holds(`self.set != ['b', 'a']`, { set: ['a', 'b'] })).toBe(false);
    const [a, b] = [{ name: 'a', size: 1 }, { name: 'b' }];
    expect(holds('self.map == self.merge', { map: [a, b], merge: [b, a] })).toBe(true);
    expect(holds('self.map == self.merge', { map: [a, b], merge: [b, { ...a, size: 2 }] })).toBe(false);
  });

  it('are equal by the type of the left operand', () => {
    expect(holds('self.atomic == self.set', { atomic: ['a', 'b'], set: ['b', 'a'] })).toBe(false);
    expect(holds('self.set == self.atomic', { atomic: ['a', 'b'], set: ['b', 'a'] })).toBe(true);
  });

  it('are equal in any order inside of other values', () => {
    const [a, b] = [
      { name: 'a', tags: ['x', 'y'] },
      { name: 'a', tags: ['y', 'x'] },
    ];
    expect(holds('self.map == self.merge', { map: [a], merge: [b] })).toBe(true);
    expect(holds('self.map[0] == self.merge[0]', { map: [a], merge: [b] })).toBe(true);
    expect(holds('self.map.all(x, x in self.merge)', { map: [a], merge: [b] })).toBe(true);
    const schema = kind({ set, map }, { rule: 'self == oldSelf' });
    expect(checked(schema, { set: ['1', '2'], map: [a] }, { set: ['2', '1'], map: [b] })).toEqual([]);
    expect(checked(schema, { set: ['1', '2'], map: [a] }, { set: ['2', '3'], map: [b] })).toHaveLength(1);
  });

  it('keep their type behind dyn()', () => {
    const spec = { set: ['a', 'b'], map: [{ name: 'a', tags: ['x', 'y'] }] };
    expect(holds(`dyn(self.set) == ['b', 'a']`, spec)).toBe(true);
    expect(holds(`dyn(self).set == dyn(['b', 'a'])`, spec)).toBe(true);
    expect(holds(`dyn(self).map[0].tags == ['y', 'x']`, spec)).toBe(true);
    expect(holds(`dyn(self.set) + ['b', 'c'] == ['a', 'b', 'c']`, spec)).toBe(true);
    expect(holds(`dyn(self.atomic) == ['b', 'a']`, { atomic: ['a', 'b'] })).toBe(false);
  });

  it('are merged by a sum, which is again of the type', () => {
    expect(holds(`self.set + ['b', 'c'] == ['c', 'b', 'a']`, { set: ['a', 'b'] })).toBe(true);
    expect(holds(`(self.set + ['b', 'c'])[2] == 'c'`, { set: ['a', 'b'] })).toBe(true);
    expect(holds(`(self.atomic + ['a']).size() == 2`, { atomic: ['a'] })).toBe(true);
    const objects = { map: [{ name: 'a', size: 1 }, { name: 'b' }], merge: [{ name: 'c' }, { name: 'a', size: 2 }] };
    expect(holds(`(self.map + self.merge).map(x, x.name) == ['a', 'b', 'c']`, objects)).toBe(true);
    expect(holds('(self.map + self.merge)[0].size == 2', objects)).toBe(true);
  });
});

describe('a failed rule', () => {
  it('has the message, reason and field of the rule', () => {
    const message = {
      rule: 'self.a > 0',
      message: 'a must be positive',
      reason: 'FieldValueForbidden',
      fieldPath: '.a',
    };
    expect(checked(kind({ a: INTEGER }, message), { a: 0 })).toEqual(['spec.a: Forbidden: a must be positive']);
    const required = { rule: 'self.a > 0', reason: 'FieldValueRequired' };
    expect(checked(kind({ a: INTEGER }, required), { a: 0 })).toEqual([
      'spec: Required value: failed rule: self.a > 0',
    ]);
  });

  it('has a message that an expression makes', () => {
    const rule = { rule: 'self.a > 0', messageExpression: `'a is ' + string(self.a)`, message: 'wrong' };
    expect(checked(kind({ a: INTEGER }, rule), { a: 0 })).toEqual(['spec: Invalid value: a is 0']);
    const failing = { ...rule, messageExpression: 'string(1 / self.a)' };
    expect(checked(kind({ a: INTEGER }, failing), { a: 0 })).toEqual(['spec: Invalid value: wrong']);
    const twoLines = { ...rule, messageExpression: `'a\\nb'` };
    expect(checked(kind({ a: INTEGER }, twoLines), { a: 0 })).toEqual(['spec: Invalid value: wrong']);
  });

  it('that ends in an error says so', () => {
    expect(checked(kind({ a: INTEGER }, { rule: '1 / self.a > 0' }), { a: 0 })).toEqual([
      'spec: Invalid value: "object": division by zero evaluating rule: 1 / self.a > 0',
    ]);
    const either: JsonSchema = { 'x-kubernetes-int-or-string': true };
    expect(checked(kind({ a: either }, { rule: 'self.a > 0' }), { a: 'x' })).toEqual([
      expect.stringContaining(
        "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.a > 0",
      ),
    ]);
  });
});

describe('an update', () => {
  const frozen = { rule: 'self.a >= oldSelf.a' };

  it('is checked by rules about the old value', () => {
    const schema = kind({ a: INTEGER }, frozen);
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { a: 1 })).toEqual([]);
    expect(checked(schema, { a: 1 }, { a: 0 })).toEqual([]);
    expect(checked(schema, { a: 1 }, { a: 2 })).toHaveLength(1);
  });

  it('and a creation are checked where the old value is optional', () => {
    const rule = { rule: 'oldSelf.hasValue() ? self.a >= oldSelf.value().a : self.a == 0', optionalOldSelf: true };
    const schema = kind({ a: INTEGER }, rule);
    expect(defined(schema)).toEqual([]);
    expect(checked(schema, { a: 1 })).toHaveLength(1);
    expect(checked(schema, { a: 1 }, { a: 1 })).toEqual([]);
    expect(defined(kind({ a: INTEGER }, { rule: 'self.a > 0', optionalOldSelf: true }))).toEqual([
      `${AT}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
    ]);
  });

  it('finds the old item of a list by its keys', () => {
    const items: JsonSchema = {
      ...{ type: 'object', required: ['name'], properties: { name: STRING, size: INTEGER } },
      'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size' }],
    };
    const list: JsonSchema = { type: 'array', maxItems: 10, items };
    const map: JsonSchema = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
    const [old, next] = [
      [
        { name: 'a', size: 1 },
        { name: 'b', size: 2 },
      ],
      [
        { name: 'b', size: 1 },
        { name: 'a', size: 1 },
      ],
    ];
    expect(checked(kind({ map }), { map: next }, { map: old })).toEqual([
      'spec.map[0]: Invalid value: failed rule: self.size >= oldSelf.size',
    ]);
    expect(defined(kind({ list }))).toEqual([
      expect.stringContaining(
        'oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[spec].properties[list]',
      ),
    ]);
  });

  it('may reorder a list with keys that a rule rejects', () => {
    const item: JsonSchema = { type: 'object', required: ['name'], properties: { name: STRING, size: INTEGER } };
    const map: JsonSchema = {
      ...{ type: 'array', maxItems: 10, items: item, 'x-kubernetes-validations': [{ rule: 'self.size() > 5' }] },
      ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    };
    const [a, b] = [{ name: 'a', size: 1 }, { name: 'b' }];
    expect(checked(kind({ map }), { map: [b, a] }, { map: [a, b] })).toEqual([]);
    expect(checked(kind({ map }), { map: [b, { ...a, size: 2 }] }, { map: [a, b] })).toHaveLength(1);
    expect(checked(kind({ map }), { map: [b] }, { map: [a, b] })).toHaveLength(1);
    const list: JsonSchema = { ...map, 'x-kubernetes-list-type': 'atomic' };
    expect(checked(kind({ list }), { list: [b, a] }, { list: [a, b] })).toHaveLength(1);
  });

  it('may leave a value that a rule rejects', () => {
    const schema = kind(
      { a: INTEGER, b: { ...INTEGER, 'x-kubernetes-validations': [{ rule: 'self > 0' }] } },
      { rule: 'self.a > 0' },
    );
    expect(checked(schema, { a: 0, b: 0 }, { a: 0, b: 0 })).toEqual([]);
    expect(checked(schema, { a: -1, b: 0 }, { a: 0, b: 0 })).toEqual(['spec: Invalid value: failed rule: self.a > 0']);
  });
});

it('a definition is rejected for rules that cannot be compiled', () => {
  const nothing =
    'Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)';
  expect(defined(kind({}, { rule: 'self.missing > 0' }))).toEqual([
    expect.stringContaining(
      `${AT}.rule: Invalid value: apiextensions.ValidationRule{Rule:"self.missing > 0", ${nothing}}: compilation failed: ERROR: <input>:1:5: undefined field 'missing'`,
    ),
  ]);
  expect(defined(kind({ a: INTEGER }, { rule: 'self.a' }))).toEqual([
    expect.stringContaining('cel expression must evaluate to a bool'),
  ]);
  expect(defined(kind({ a: INTEGER }, { rule: 'self.a > 0', messageExpression: 'self.a' }))).toEqual([
    expect.stringContaining('messageExpression must evaluate to a string'),
  ]);
  expect(defined(kind({ a: INTEGER }, { rule: 'self.a > 0', fieldPath: '.b' }))).toEqual([
    `${AT}.fieldPath: Invalid value: ".b": must be a valid path`,
  ]);
});

it('a definition is rejected for rules that may cost too much', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };
  const rule = { rule: 'self.list.all(x, self.list.all(y, x == y))' };
  const words =
    'estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  expect(defined(kind({ list }, rule))).toEqual([
    `${AT}.rule: Forbidden: ${words}`,
    `${AT}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    `schema: Forbidden: x-kubernetes-validations ${words.replace('cost', 'cost total for entire OpenAPIv3 schema')}`,
  ]);
  expect(defined(kind({ list: { ...list, maxItems: 10, items: { type: 'string', maxLength: 10 } } }, rule))).toEqual(
    [],
  );
});

it('hostile rules in large numbers are rejected before they are compiled', () => {
  const rules = Array.from({ length: 1_001 }, (_, i) => ({ rule: `self.a > ${i}` }));
  expect(texts(ruleLimitErrors([kind({ a: INTEGER }, ...rules)], 'spec.versions'))).toEqual([
    'spec.versions: Forbidden: x-kubernetes-validations must have at most 1000 rules in all versions',
  ]);
  expect(ruleLimitErrors([kind({ a: INTEGER }, ...rules.slice(1))], 'spec.versions')).toEqual([]);
  const long = { rule: `self.a > 0${' '.repeat(25_000)}` };
  expect(texts(ruleLimitErrors([kind({}, long), kind({}, long)], 'spec.versions'))).toEqual([
    expect.stringContaining('must have at most 50000 characters of expressions'),
  ]);
});

it('hostile rules that nest are rejected', () => {
  const list: JsonSchema = { type: 'array', items: INTEGER };
  const depth = 30;
  const nested = `${Array.from({ length: depth }, (_, i) => `self.list.all(x${i}, `).join('')}true${')'.repeat(depth)}`;
  expect(defined(kind({ list }, { rule: nested }))[0]).toContain('exceeds budget by factor of more than 100x');
  const parentheses = { rule: `${'('.repeat(40_000)}true${')'.repeat(40_000)}` };
  expect(defined(kind({}, parentheses))).toEqual([expect.stringContaining('compilation failed')]);
});

it('an object is rejected when its rules cost too much', () => {
  const list: JsonSchema = { type: 'array', items: INTEGER };
  const schema = kind({ list }, { rule: 'self.list.all(x, self.list.all(y, x + y >= 0))' });
  const long = Array.from({ length: 2000 }, (_, i) => i);
  expect(checked(schema, { list: long })).toEqual([
    expect.stringContaining(
      "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule",
    ),
  ]);
  const several: JsonSchema = {
    ...{
      type: 'array',
      items: { ...list, 'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x + y >= 0))' }] },
    },
  };
  const lists = Array.from({ length: 100 }, () => long.slice(0, 300));
  expect(checked(kind({ several }), { several: lists }).at(-1)).toContain(
    'validation failed due to running out of cost budget, no further validation rules will be run',
  );
});
