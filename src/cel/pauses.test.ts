/** Long evaluations pause when their turn is spent, and go on to the same result at the same cost. */
import { expect, test } from 'vitest';
import type { Pace } from '../base/event-loop/in-turns.ts';
import { continued } from '../base/event-loop/replay.ts';
import { Environment } from './environment.ts';
import { KUBERNETES_LANGUAGE } from './libraries/kubernetes.ts';
import { CostBudget, CostLimitError, compile, EvaluationError, type Program } from './program.ts';
import { INT, listType, mapType, STRING } from './types/type.ts';
import type { Value } from './values/value.ts';

const environment = new Environment({
  libraries: KUBERNETES_LANGUAGE,
  variables: { numbers: listType(INT), names: listType(STRING), text: STRING, counts: mapType(STRING, INT) },
});

const names = Array.from({ length: 200 }, (_, i) => `name-${i}`);
const variables = {
  names,
  numbers: names.map((_, i) => i),
  text: 'a'.repeat(20_000),
  counts: Object.fromEntries(names.map((name, i) => [name, i])),
};

const SPENT: Pace = { isSpent: () => true };

function outcomeOf(evaluate: () => Value): Value | Error {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof EvaluationError) return error;
    throw error;
  }
}

/** Runs a program that yields as often as it may; counts how often. */
function inParts(program: Program, budget: CostBudget): { readonly outcome: Value | Error; readonly pauses: number } {
  const work = program.evaluateInTurns(variables, budget, SPENT);
  for (let pauses = 0; ; pauses++) {
    let isFinished = true;
    const outcome = outcomeOf(() => {
      const { done, value } = work.next();
      isFinished = done === true;
      return (value ?? null) as Value;
    });
    if (isFinished) return { outcome, pauses };
  }
}

test.each([
  'numbers.all(x, numbers.all(y, x + y >= 0))',
  'numbers.exists(x, numbers.exists(y, x + y == 390 && names[x] != names[y]))',
  'numbers.exists(x, numbers.exists(y, names[-1] == "") || x == 150)',
  'numbers.all(x, numbers.all(y, names[x + y + 1] != ""))',
  'numbers.map(x, numbers.filter(y, y > x).size())',
  'numbers.map(x, numbers.map(y, [x, y])).map(list, list.size())',
  'numbers.map(x, x > 100, numbers.exists_one(y, y == x))',
  'counts.all(k, counts.exists(l, counts[l] == counts[k]))',
  'counts.transformMap(k, v, numbers.map(x, x + v).size() + v)',
  'names.transformMapEntry(i, n, numbers.all(x, x < 500) ? {n: i} : {})',
  'numbers.map(x, counts.transformList(k, v, v > x, k).size()).map(x, x)',
  'optional.of(numbers.map(x, numbers.map(y, y).size())).optMap(l, l.map(x, l.exists(y, y != x))).value()',
  'numbers.filter(x, numbers.all(y, y < 100) || numbers.all(y, y < 300)).map(x, names[x] + "!")',
  'numbers.map(x, numbers.map(y, y).map(z, z + x)[x])',
  `${'text.contains("b") || text == text + "" && '.repeat(20)}numbers.all(x, x >= 0)`,
  'numbers.all(x, numbers.all(y, numbers.all(z, x + y + z >= 0)))',
])('%s', (source) => {
  const program = compile(source, environment);
  const whole = new CostBudget(10_000_000);
  const outcome = outcomeOf(() => program.evaluate(variables, whole));
  const parts = new CostBudget(10_000_000);
  const found = inParts(program, parts);
  expect(found.outcome).toEqual(outcome);
  expect(parts.used).toBe(whole.used);
  // It pauses about every 1,000 units; single functions that read a long text cost more.
  expect(found.pauses).toBeGreaterThan(whole.used / 3_000 - 2);
});

test('an evaluation of low cost does not ask whether its turn is spent', () => {
  const pace: Pace = { isSpent: () => expect.fail('asked') };
  expect(compile('numbers.all(x, x >= 0)', environment).evaluateInTurns(variables, undefined, pace).next()).toEqual({
    done: true,
    value: true,
  });
});

test('the rest of a budget limits an evaluation that pauses', () => {
  const budget = new CostBudget(100_000);
  const { outcome } = inParts(compile('numbers.all(x, numbers.all(y, x + y >= 0))', environment), budget);
  expect(outcome).toBeInstanceOf(CostLimitError);
  expect((outcome as CostLimitError).scope).toBe('budget');
});

test('a variable that is an evaluation of its own pauses the one that reads it', () => {
  const inner = compile('numbers.map(x, numbers.all(y, y >= 0))', environment);
  const outer = compile('numbers.map(x, x).size() + counts.size()', environment);
  const begun = inner.evaluateInTurns(variables, undefined, SPENT);
  let result: Value | undefined;
  let pauses = 0;
  const lazy = {
    ...variables,
    get counts(): Value {
      pauses++;
      result ??= continued(begun);
      return result;
    },
  };
  const whole = outer.evaluateInTurns(lazy, undefined, SPENT);
  let step = whole.next();
  while (!step.done) step = whole.next();
  expect(step.value).toBe(400);
  expect(pauses).toBeGreaterThan(10);
});
