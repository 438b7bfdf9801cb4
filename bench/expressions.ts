/**
 * Measures the cost of policy expressions for a write: five ordinary ones on a pod, compiled before. Beside it stands
 * parsing the same pod, which every write pays for.
 */
import { Environment } from '../src/cel/environment.ts';
import { KUBERNETES_LANGUAGE } from '../src/cel/libraries/kubernetes.ts';
import { CostBudget, compile } from '../src/cel/program.ts';
import { DYN } from '../src/cel/types/type.ts';
import { largePod } from './bodies.ts';
import type { Figure } from './report.ts';

const NAME = 'five expressions';
const EXPRESSIONS = [
  'object.spec.containers.all(c, c.image.startsWith("registry.example.com/") || c.image.size() > 0)',
  'has(object.metadata.labels) && !("forbidden" in object.metadata.labels)',
  'object.metadata.name.matches("^[a-z0-9-]+$")',
  'object.spec.containers.map(c, c.name).size() <= 10',
  'object.spec.?restartPolicy.orValue("Always") in ["Always", "OnFailure", "Never"]',
];
const ROUNDS = 7;
const PODS_PER_ROUND = 20_000;
const BUDGET = 10_000_000;

export function measureExpressions(options: {
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
}): void {
  if (!options.wanted(NAME)) return;
  const text = JSON.stringify(largePod(1));
  const object = JSON.parse(text);
  const environment = new Environment({ libraries: KUBERNETES_LANGUAGE, variables: { object: DYN } });
  const programs = EXPRESSIONS.map((source) => compile(source, environment));
  const evaluated = fastest(() => {
    const budget = new CostBudget(BUDGET);
    for (const program of programs) {
      if (program.evaluate({ object }, budget) !== true) throw new Error(`${program.source} is not true`);
    }
  });
  options.record({ name: NAME, unit: 'µs', qd: evaluated, bare: fastest(() => JSON.parse(text)), promise: 30 });
}

/** Microseconds for each call in the fastest round. */
function fastest(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < PODS_PER_ROUND; i++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1_000 / PODS_PER_ROUND);
  }
  return best;
}
