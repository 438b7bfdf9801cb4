/** Expressions that try to use up memory, the stack or time end with an error, soon. */
import { describe, expect, test } from 'vitest';
import { Environment } from './environment.ts';
import { KUBERNETES_LANGUAGE } from './libraries/kubernetes.ts';
import { CompileError, CostBudget, CostLimitError, compile, EvaluationError } from './program.ts';
import { INT, listType, mapType, STRING } from './types/type.ts';

const environment = new Environment({
  libraries: KUBERNETES_LANGUAGE,
  variables: { numbers: listType(INT), names: listType(STRING), text: STRING, counts: mapType(STRING, INT) },
});

const names = Array.from({ length: 20_000 }, (_, i) => `name-${i}`);
const variables = {
  names,
  numbers: names.map((_, i) => i),
  text: 'a'.repeat(200_000),
  counts: Object.fromEntries(names.map((name, i) => [name, i])),
};

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
  ])('%s is stopped', (source) => {
    const program = compile(source, environment);
    const budget = new CostBudget(10_000_000);
    expect(() => program.evaluate(variables, budget)).toThrow(CostLimitError);
    expect(budget.used).toBeGreaterThan(1_000_000);
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
