/** Expressions that try to use up memory, the stack or time end with an error, soon. */
import { describe, expect, test } from 'vitest';
import { Environment } from './environment.ts';
import { KUBERNETES_LANGUAGE } from './libraries/kubernetes.ts';
import { CompileError, CostBudget, CostLimitError, compile, EvaluationError } from './program.ts';
import { BYTES, INT, listType, mapType, STRING } from './types/type.ts';

const environment = new Environment({
  libraries: KUBERNETES_LANGUAGE,
  variables: {
    ...{ numbers: listType(INT), names: listType(STRING), text: STRING, counts: mapType(STRING, INT) },
    ...{ digits: STRING, data: BYTES, items: listType(mapType(STRING, INT)) },
  },
});

const names = Array.from({ length: 20_000 }, (_, i) => `name-${i}`);
const variables = {
  names,
  numbers: names.map((_, i) => i),
  text: 'a'.repeat(200_000),
  counts: Object.fromEntries(names.map((name, i) => [name, i])),
  digits: `${'1'.repeat(100_000)}x`,
  data: 'AAAA'.repeat(50_000),
  items: Array.from({ length: 500 }, (_, i) => ({
    ...Object.fromEntries(names.slice(0, 100).map((name) => [name, 1])),
    last: i,
  })),
};

/** A list that holds another one twice, which holds another one twice, and so on. */
const doubled = (start: string, times: number) => `[${start}]${'.map(x, [x, x])'.repeat(times)}`;
/** Long, and found nowhere in the text. */
const PART = 'text.substring(0, 20000)';

function messageOf(source: string): string {
  try {
    compile(source, environment);
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
  return 'compiled';
}

const TOO_DEEP = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250';

describe('the text of an expression', () => {
  test.each([
    ['nested parentheses', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, TOO_DEEP],
    ['nested lists', `${'['.repeat(40_000)}${']'.repeat(40_000)}`, TOO_DEEP],
    ['nested calls', 'size('.repeat(19_000), TOO_DEEP],
    ['a chain of fields', `text${'.a'.repeat(40_000)}`, TOO_DEEP],
    ['a chain of indexes', `names${'[0]'.repeat(30_000)}`, TOO_DEEP],
    ['a long sum', `1${'+1'.repeat(49_000)}`, TOO_DEEP],
    ['a chain of conditions', `${'true?1:'.repeat(13_000)}1`, TOO_DEEP],
    [
      'more characters than allowed',
      '1'.repeat(100_001),
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    ],
    ['many negations', `${'!'.repeat(99_000)}true`, 'compiled'],
    ['many terms', `true${'&&true'.repeat(16_000)}`, 'compiled'],
    ['a long number', '9'.repeat(99_000), expect.stringContaining('invalid int literal')],
    ['a string without an end', `"${'a'.repeat(99_000)}`, expect.stringContaining('token recognition error')],
    ['characters that are no tokens', '#'.repeat(99_000), expect.stringContaining('More than 100 syntax errors')],
  ])('%s', (_, source, expected) => {
    expect(messageOf(source)).toEqual(expected);
  });

  test('types that double with each call are not followed for ever', () => {
    expect(compile(`numbers${'.map(a, {a: a})'.repeat(200)}`, environment).resultType.kind).toBe('list');
  });

  test('a target that macros use twice is checked and estimated once', () => {
    const program = compile(`optional.of(1)${'.optMap(x, x)'.repeat(200)}`, environment);
    expect(program.estimateCost(() => undefined).max).toBeGreaterThan(0);
  });
});

describe('an evaluation', () => {
  test.each([
    'numbers.all(x, numbers.all(y, numbers.all(z, x + y + z >= 0)))',
    'lists.range(1000000000000)',
    'lists.range(900000).map(x, lists.range(900000))',
    'numbers.all(x, (numbers + numbers).size() > 0)',
    'numbers.all(x, text.size() > 0)',
    'numbers.all(x, counts.size() > 0)',
    'numbers.all(x, [names] == [names.map(n, n)])',
    'numbers.all(x, names == names + [])',
    'numbers.all(x, names.join(text) != "")',
    'numbers.exists(x, "%s%d".format([names, "x"]) != "")',
    'numbers.exists(x, names[-1] == "" || numbers.exists(y, names[-1] == ""))',
    'numbers.all(x, text.contains(text))',
    'numbers.all(x, text.matches("(a|aa)*b") || true)',
    'names.sort().size() > 0',
    'names.distinct().size() > 0',
    'sets.contains(names, names)',
    `optional.of(1)${'.optMap(x, x)'.repeat(60)}.hasValue()`,
    `'%s'.format([${doubled('1', 40)}])`,
    `${doubled('1', 40)}.flatten(50)`,
    `${doubled('[]', 40)}.flatten(50)`,
    `[${doubled('1', 40)}, ${doubled('1', 40)}].distinct()`,
    `sets.contains([${doubled('1', 40)}], [${doubled('1', 40)}])`,
    'items.distinct()',
    'sets.equivalent(items, items.map(i, i))',
    `[numbers]${'.map(x, x + x)'.repeat(10)}`,
    'lists.range(100).map(i, "aaaaaaaaaa".replace("a", text))',
    'numbers.map(i, text).join()',
    `text.lastIndexOf(${PART} + "b")`,
    `text.indexOf("b" + ${PART})`,
    `text.split("b" + ${PART})`,
    `text.replace("b" + ${PART}, "")`,
    'numbers.all(x, double(digits) > 0.0)',
    'numbers.all(x, timestamp(digits) > timestamp(0))',
    'numbers.all(x, data != b"")',
  ])('%s is stopped', (source) => {
    const program = compile(source, environment);
    const budget = new CostBudget(10_000_000);
    expect(() => program.evaluate(variables, budget)).toThrow(CostLimitError);
    expect(budget.used).toBeGreaterThan(1_000_000);
  });

  test('a comparison of values that hold others many times fails', () => {
    const program = compile(`${doubled('1', 40)} == ${doubled('1', 40)}`, environment);
    const budget = new CostBudget(10_000_000);
    expect(() => program.evaluate(variables, budget)).toThrow('the values are too large to be compared');
    expect(budget.used).toBeGreaterThan(2_000);
  });

  test.each(['exists(name, true)', 'size() > 0', 'all(name, number, number >= 0) || true'])(
    'the keys of a large map are listed once: %s',
    (loop) => {
      let listings = 0;
      const ownKeys = (counts: object) => {
        listings++;
        return Reflect.ownKeys(counts);
      };
      const entries: Record<string, number> = Object.fromEntries(names.slice(0, 100).map((name, i) => [name, i]));
      const counts = new Proxy<Record<string, number>>(entries, { ownKeys });
      expect(compile(`lists.range(50).all(x, counts.${loop})`, environment).evaluate({ counts })).toBe(true);
      expect(listings).toBe(1);
    },
  );

  test('a duration is no long text', () => {
    expect(() => compile('duration(digits)', environment).evaluate(variables)).toThrow('type conversion error');
  });

  test('texts do not grow beyond a size', () => {
    expect(() => compile('text.replace("", text)', environment).evaluate(variables)).toThrow(EvaluationError);
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'length'])('%s is no key of an empty map', (key) => {
    const program = compile(`'${key}' in counts`, environment);
    expect(program.evaluate({ counts: {} })).toBe(false);
    expect(compile(`has(counts.${key})`, environment).evaluate({ counts: {} })).toBe(false);
  });
});
