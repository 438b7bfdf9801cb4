import { expect, test } from 'vitest';
import { Environment } from './environment.ts';
import { KUBERNETES_LANGUAGE } from './libraries/kubernetes.ts';
import { CompileError, CostBudget, compile, EvaluationError } from './program.ts';
import { BYTES, DOUBLE, DURATION, DYN, INT, listType, objectType, STRING, TIMESTAMP } from './types/type.ts';
import { ObjectValue } from './values/value.ts';

const spec = objectType('Object.spec', (name) => (name === 'replicas' ? { type: INT } : undefined));
const object = objectType('Object', (name) => (name === 'spec' ? { type: spec } : undefined));
const fields = {
  ratio: DOUBLE,
  ratios: listType(DOUBLE),
  since: TIMESTAMP,
  every: DURATION,
  data: BYTES,
  name: STRING,
};
const self = objectType('Self', (name) =>
  Object.hasOwn(fields, name) ? { type: fields[name as keyof typeof fields] } : undefined,
);

const environment = new Environment({
  libraries: KUBERNETES_LANGUAGE,
  variables: { any: DYN, self, size: INT, names: listType(STRING) },
  typeOf: (name) => [spec, object].find((type) => type.name === name),
});

const variables = {
  any: { list: [1, 2.5, 'x'], map: { a: 1 }, none: null, big: 2 ** 53 },
  self: {
    ratio: 2,
    ratios: [1, 2],
    since: '2026-01-02T03:04:05.5Z',
    every: '1h30m',
    data: 'aGk=',
    name: 'smörgås',
  },
  size: 3,
  names: ['a', null],
};

function evaluate(source: string) {
  return compile(source, environment).evaluate(variables);
}

/** The message of the error that compiling or evaluating ends with. */
function failure(source: string): string {
  try {
    evaluate(source);
  } catch (error) {
    if (error instanceof CompileError) return error.issues[0]!.message;
    if (error instanceof EvaluationError) return error.message;
    throw error;
  }
  return 'none';
}

test.each([
  // literals
  `"a\\tb\\u00e5\\x41\\101" == 'a\tbåAA'`,
  `r'\\n' == '\\\\n' && '''a'b"c''' == "a'b\\"c"`,
  `b'\\xff' == b'\\377' && size(b'å') == 2 && size('å😀') == 2`,
  '0x1F == 31 && 0x1Fu == 31u && 1e3 == 1000.0 && .5 == 0.5 && -0x10 == -16',
  '// a comment\n 1 == 1 // another',
  '[1, 2,] == [1, 2] && {"a": 1,} == {"a": 1}',
  // numbers
  '-9223372036854775808 < 0 && 9223372036854775807 - 1 == 9223372036854775806',
  '7 / -2 == -3 && -7 % 3 == -1 && 7u / 2u == 3u && 7.0 / 2.0 == 3.5',
  'dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1) != 1.5 && 1 < 1.5 && 2u > 1 && !(dyn(double("NaN")) == dyn(double("NaN")))',
  'type(1.0) == double && type(1) == int && type(1u) == uint && type(any.list[1]) == double && type(any.big) == int',
  'int(3.9) == 3 && int(-3.9) == -3 && uint(3.9) == 3u && int("-42") == -42 && double("1e3") == 1000.0',
  'string(1.0) == "1" && string(1.5) == "1.5" && string(1e100) == "1e+100" && string(-7) == "-7" && string(7u) == "7"',
  '1.0 / 0.0 > 1e300 && -1.0 / 0.0 < -1e300',
  // strings
  '"abc" < "abd" && "\\uffff" < "😀" && "a" + "b" == "ab" && "abc".contains("b") && "abc".endsWith("c")',
  '"foobar".matches("^fo+b") && !matches("foo", "^o") && "x".matches("^[[:alpha:]]$")',
  '"tacocat".charAt(3) == "o" && "å😀b".charAt(1) == "😀" && "å😀b".indexOf("b") == 2 && "aXbX".lastIndexOf("X") == 3',
  '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"] && "ab".split("") == ["a", "b"]',
  '["a", "b"].join("-") == "a-b" && "hello".replace("l", "L", 1) == "heLlo" && "ab".replace("", "-") == "-a-b-"',
  '"hello".substring(1, 3) == "el" && "å😀b".substring(1) == "😀b" && "  x ".trim() == "x" && "ÅbC".lowerAscii() == "Åbc"',
  '"%s is %d, %.2f, %x, %b".format(["x", 255, 1234.5, 255, 5]) == "x is 255, 1,234.50, ff, 101"',
  '"%s".format([{"b": [1.5, "x"], "a": null}]) == "{\\"a\\":null, \\"b\\":[1.500000, \\"x\\"]}"',
  'strings.quote("a\\n\\"") == "\\"a\\\\n\\\\\\"\\""',
  // time
  'timestamp("2026-01-02T03:04:05Z") + duration("25h") == timestamp("2026-01-03T04:04:05Z")',
  'timestamp("2026-03-01T00:00:00Z") - timestamp("2026-02-28T00:00:00Z") == duration("24h")',
  'timestamp("2026-12-31T23:30:00Z").getFullYear("+01:00") == 2027',
  'timestamp("2026-07-01T12:00:00Z").getHours("Europe/Berlin") == 14',
  'timestamp("2026-02-01T00:00:00Z").getDayOfYear() == 31 && timestamp("2026-02-01T00:00:00Z").getDayOfWeek() == 0',
  'duration("1h30m").getMinutes() == 90 && string(duration("90.5s")) == "90.5s" && duration("-1.5h") < duration("0s")',
  'string(timestamp("2026-01-02T03:04:05.120+02:00")) == "2026-01-02T01:04:05.12Z"',
  // fields of a schema
  'type(self.ratio) == double && self.ratio / 4.0 == 0.5 && self.ratios.map(r, type(r)).all(t, t == double)',
  'self.since.getSeconds() == 5 && self.every == duration("90m") && self.data == b"hi" && self.name.size() == 7',
  // logic
  'true || any.missing == 1',
  'any.missing == 1 || true',
  '!(false && 1 / 0 == 1) && !(1 / 0 == 1 && false)',
  '[1, 2, 0].exists(x, 4 / x == 2) && ![0, 5].all(x, 10 / x == 1)',
  'has(any.map.a) && !has(any.map.b) && has(any.none)',
  // comprehensions
  '[1, 2, 3].exists_one(x, x > 2) && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && {"a": 1}.all(k, k == "a")',
  '[1, 2].map(x, [3, 4].map(y, x * y)) == [[3, 4], [6, 8]] && [size].map(size, size + 1) == [4]',
  '["a", "b"].all(i, v, i < 2 && v != "") && {"a": 1}.exists(k, v, k == "a" && v == 1)',
  '["a", "b"].transformList(i, v, string(i) + v) == ["0a", "1b"]',
  '{"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 10) == {"b": 20}',
  '["a", "b"].transformMapEntry(i, v, {v: i}) == {"a": 0, "b": 1}',
  // lists and sets
  '[3, 1, 2].sort() == [1, 2, 3] && [1, 2, 3].reverse() == [3, 2, 1] && [1, 1, 2].distinct() == [1, 2]',
  '[[1], [2, [3]]].flatten() == [1, 2, [3]] && [1, 2, 3].slice(1, 3) == [2, 3] && lists.range(3) == [0, 1, 2]',
  '["bb", "a"].sortBy(x, x.size()) == ["a", "bb"]',
  'sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])',
  // optionals
  'any.?map.?a.orValue(0) == 1 && any.?map.?b.orValue(7) == 7 && any.map[?"b"] == optional.none()',
  'optional.of(2).optMap(x, x + 1).value() == 3 && !optional.none().hasValue()',
  'optional.of(1).optFlatMap(x, optional.none()) == optional.none() && optional.ofNonZeroValue("") == optional.none()',
  '[?any.?missing, 1] == [1] && {?"a": any.?missing} == {} && optional.none().or(optional.of(1)).value() == 1',
  '[1, 2].first().value() == 1 && [1, 2].last().value() == 2 && any.list[?9] == optional.none()',
  // types
  'type(type(1)) == type && type([]) == list && type({}) == map && type(null) == null_type',
  'type(timestamp("2026-01-01T00:00:00Z")) == google.protobuf.Timestamp',
  'Object{spec: Object.spec{replicas: 3}}.spec.replicas == 3 && has(Object{spec: Object.spec{}}.spec)',
])('true expressions: %s', (source) => {
  expect(evaluate(source)).toBe(true);
});

test.each([
  ['9223372036854775807 + 1', 'integer overflow'],
  ['-(-9223372036854775808)', 'integer overflow'],
  ['-9223372036854775808 / -1', 'integer overflow'],
  ['0u - 1u', 'unsigned integer overflow'],
  ['1 % 0', 'modulus by zero'],
  ['int(1e19)', 'integer overflow'],
  ['int("1.5")', "type conversion error from 'string' to 'int'"],
  ['{"a": 1}["b"]', 'no such key: b'],
  ['[1][1]', 'index out of bounds: 1'],
  ['any.list + 1', 'no such overload'],
  ['any.map.size(1)', "found no matching overload for 'size' applied to 'dyn.(int)'"],
  ['size(any.none)', 'no such overload: size(null_type)'],
  ['names.exists(n, n.startsWith("b"))', 'no such overload: startsWith(null_type, string)'],
  ['names.map(n, n + "!")', 'no such overload'],
  ['optional.none().value()', 'optional.none() dereference'],
  ['{"a": 1, "a": 2}', 'Failed with repeated key'],
  ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'timestamp overflow'],
  ['"a".substring(2)', 'index out of range: 2'],
  ['[1, 2].slice(2, 1)', 'cannot slice(2, 1), start index must be less than or equal to end index'],
  ['"%d".format(["x"])', 'error during formatting: decimal clause can only be used on integers, was given string'],
  [
    '["a"].transformMapEntry(i, v, {"k": 1}).size() + [1, 2].transformMapEntry(i, v, {"k": 1}).size()',
    'Failed with repeated key',
  ],
  ['duration("x")', 'invalid duration argument'],
  ['"a".matches("(")', 'invalid matches argument'],
  ['size == null', "found no matching overload for '_==_' applied to '(int, null)'"],
  ['size.foo', "type 'int' does not support field selection"],
  ['self.missing', "undefined field 'missing'"],
  ['Object{spec: 1}', "expected type of field 'spec' is 'Object.spec' but provided type is 'int'"],
  ['Object.spec{other: 1}', "undefined field 'other'"],
  ['size.all(x, true)', "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
  ['[1].all(x.y, true)', 'argument must be a simple name'],
  ['[1].all(i, i, true)', 'duplicate variable name: i'],
  ['has(size)', 'invalid argument to has() macro'],
  ['foo(1)', "undeclared reference to 'foo' (in container '')"],
  ['package', 'reserved identifier: package'],
  ['9223372036854775808', 'invalid int literal'],
  ["b'\\u0041'", 'unable to unescape string'],
  ['1 +', expect.stringContaining("mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!'")],
  ['{1', expect.stringContaining("mismatched input '<EOF>' expecting ':'")],
  ['1 2', "Syntax error: extraneous input '2' expecting <EOF>"],
])('errors: %s', (source, expected) => {
  expect(failure(source)).toEqual(expected);
});

test.each([
  ['1 + 2', 1],
  ['any.map.a', 3],
  ['has(any.map.a)', 2],
  ['any.map["a"]', 3],
  ['[1, 2, 3].all(x, true)', 10],
  ['any.list.map(x, x)', 42],
  ['size in [1, 2, 3]', 1],
  ['any.list.exists(x, x == 1)', 12],
  ['size > 2 ? size : 0', 2],
  ['"12345678901234567890" == "123456789012345678901234567890"', 2],
  ['self.name.startsWith("s")', 3],
])('costs: %s costs %d', (source, cost) => {
  const budget = new CostBudget(1_000);
  compile(source, environment).evaluate(variables, budget);
  expect(budget.used).toBe(cost);
});

test('an estimate of costs is made from the limits of sizes', () => {
  const asked: (readonly string[] | undefined)[] = [];
  const program = compile('self.ratios.all(r, r > 0.0) && self.name.contains("x")', environment);
  const { min, max } = program.estimateCost(({ path }) => {
    asked.push(path);
    if (path?.at(-1) === 'ratios') return { min: 0, max: 10 };
    return path?.at(-1) === 'name' ? { min: 0, max: 100 } : undefined;
  });
  expect({ min, max }).toEqual({ min: 3, max: 3 + 10 * 5 + 2 + 10 });
  expect(asked).toContainEqual(['self', 'ratios']);
});

test('object literals are values of their type, by property', () => {
  const value = evaluate('Object{spec: Object.spec{replicas: size}}');
  expect(value).toBeInstanceOf(ObjectValue);
  expect((value as ObjectValue).type).toBe(object);
  expect(((value as ObjectValue).fields.spec as ObjectValue).fields).toEqual({ replicas: 3 });
});
