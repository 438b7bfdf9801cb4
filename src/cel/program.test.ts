import { describe, expect, test } from 'vitest';
import { Environment } from './environment.ts';
import { KUBERNETES_LANGUAGE } from './libraries/kubernetes.ts';
import { CompileError, CostBudget, CostLimitError, compile, EvaluationError } from './program.ts';
import { DYN, INT, listType, objectType, STRING } from './types/type.ts';

const metadata = objectType('Metadata', (name) =>
  name === '__namespace__' ? { type: STRING, property: 'namespace' } : undefined,
);
const environment = new Environment({
  libraries: KUBERNETES_LANGUAGE,
  variables: { object: DYN, n: INT, names: listType(STRING), metadata },
  homogeneousLiterals: true,
});

function evaluate(source: string, variables = {}) {
  return compile(source, environment).evaluate(variables);
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test.each([
  ['1 + 2 * 3 == 7', true],
  ['object.spec.replicas <= 5', true],
  ['has(object.spec) && !has(object.status)', true],
  ['n > 0 ? "more" : "none"', 'more'],
  ['names.all(x, x != "")', true],
  ['names.exists(x, x == "b")', true],
  ['names.map(x, x + "!")', ['a!', 'b!']],
  ['names.filter(x, x > "a")', ['b']],
  ['names.exists_one(x, x == "a")', true],
  ['"b" in names', true],
  ['metadata.__namespace__', 'default'],
  ['object.missing == 1 || true', true],
  ['true || object.missing == 1', true],
  ['names[1]', 'b'],
  ['-n', -3],
])('evaluate: %s', (source, expected) => {
  const object = { spec: { replicas: 3 } };
  expect(evaluate(source, { object, n: 3, names: ['a', 'b'], metadata: { namespace: 'default' } })).toEqual(expected);
});

test.each([
  ['object.missing', 'no such key: missing'],
  ['names[2]', 'index out of bounds: 2'],
  ['n / 0', 'division by zero'],
  ['9223372036854775807 + n', 'integer overflow'],
  ['object.missing && true', 'no such key: missing'],
  ['object.constructor', 'no such key: constructor'],
])('evaluate: %s fails with %s', (source, message) => {
  const error = errorOf(() => evaluate(source, { object: {}, n: 1, names: ['a'] }));
  expect(error).toBeInstanceOf(EvaluationError);
  expect((error as Error).message).toBe(message);
});

describe('compile', () => {
  test.each([
    ['foo', "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"],
    [
      '1 + "a"',
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + \"a\"\n | ..^",
    ],
    ['metadata.x', "ERROR: <input>:1:9: undefined field 'x'\n | metadata.x\n | ........^"],
    ['[1, "a"]', "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"]\n | ....^"],
    ['true &&\n  1', "ERROR: <input>:2:3: expected type 'bool' but found 'int'\n |   1\n | ..^"],
  ])('%s is rejected', (source, message) => {
    const error = errorOf(() => compile(source, environment));
    expect(error).toBeInstanceOf(CompileError);
    expect((error as Error).message).toBe(message);
  });

  test('the type of the result is known', () => {
    expect(compile('n', environment).resultType).toBe(INT);
    expect(compile('object.x', environment).resultType).toBe(DYN);
  });

  test('the variables that an expression mentions are known', () => {
    expect([...compile('names.exists(n, n == metadata.__namespace__)', environment).variables]).toEqual([
      'names',
      'metadata',
    ]);
  });
});

test('budgets an evaluation that costs too much is stopped', () => {
  const program = compile('names.all(x, names.all(y, names.all(z, x + y != z)))', environment);
  const names = Array.from({ length: 1000 }, (_, i) => `name-${i}`);
  expect((errorOf(() => program.evaluate({ names })) as CostLimitError).scope).toBe('call');
  const budget = new CostBudget(100);
  const error = errorOf(() => program.evaluate({ names }, budget));
  expect(error).toBeInstanceOf(CostLimitError);
  expect((error as CostLimitError).scope).toBe('budget');
  expect(budget.used).toBeGreaterThan(100);
});

test('budgets costs add up', () => {
  const budget = new CostBudget(100);
  compile('n + 1 == 2', environment).evaluate({ n: 1 }, budget);
  expect(budget.used).toBe(3);
});
