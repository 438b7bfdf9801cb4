/** Checks values against several schemas at once: `allOf`, `anyOf`, `oneOf` and `not`. */
import { invalid } from '../schema/field-error.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Check, MAX_ERRORS, merge, newRun, type Run } from './validation-run.ts';

type CheckOf = (schema: JsonSchema) => Check;

/** Errors about several schemas at once name no field. */
const composed = (text: string) => invalid('<nil>', '', text);

export function compositions(schema: JsonSchema, checkOf: CheckOf): Check | undefined {
  const { allOf, anyOf, oneOf, not } = schema;
  if (!allOf?.length && !anyOf?.length && !oneOf?.length && !not) return undefined;
  const check = compositionCheck(schema, checkOf);
  return (value, old, path, run) => {
    const outcome = run.progress.once(() => {
      const own = newRun(run);
      check(value, old, path, own);
      return own;
    });
    merge(run, outcome);
  };
}

/** Steps to describe an error. */
const STEPS_PER_ERROR = 40;

function compositionCheck({ allOf, anyOf, oneOf, not }: JsonSchema, checkOf: CheckOf): Check {
  return (value, old, path, run) => {
    const { found, progress } = run;
    const name = JSON.stringify(path);
    const attempt = (schema: JsonSchema): Run =>
      progress.compose(() => {
        const tried = newRun(run);
        checkOf(schema)(value, old, path, tried);
        progress.spend(tried.found.length * STEPS_PER_ERROR);
        return tried;
      });
    if (anyOf?.length) {
      const { fitting, closest } = tryAll(anyOf, attempt, 1);
      if (fitting === 0) found.push(composed(`${name} must validate at least one schema (anyOf)`));
      merge(run, closest);
    }
    if (oneOf?.length) {
      const { fitting, closest } = tryAll(oneOf, attempt);
      if (fitting !== 1) {
        const why = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
        found.push(composed(`${name} must validate one and only one schema (oneOf). ${why}`));
      }
      if (fitting <= 1) merge(run, closest);
    }
    if (allOf?.length) {
      let fitting = 0;
      for (const schema of allOf) {
        const tried = attempt(schema);
        if (tried.found.length === 0) fitting++;
        if (found.length < MAX_ERRORS) merge(run, tried);
        else run.applied += tried.applied;
      }
      if (fitting < allOf.length) {
        found.push(composed(`${name} must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`));
      }
    }
    if (not && attempt(not).found.length === 0) found.push(composed(`${name} must not validate the schema (not)`));
  };
}

interface Fit {
  /** Number of schemas that the value satisfies. */
  readonly fitting: number;
  /** Last run that it satisfies, or else the one that applied to most of it. */
  readonly closest: Run;
}

/** Applies schemas, of which there is at least one, until the value satisfies `enough` of them. */
function tryAll(schemas: readonly JsonSchema[], attempt: (schema: JsonSchema) => Run, enough = schemas.length): Fit {
  let fitting = 0;
  let closest: Run | undefined;
  for (let i = 0; i < schemas.length && fitting < enough; i++) {
    const tried = attempt(schemas[i]!);
    if (tried.found.length === 0) {
      fitting++;
      closest = tried;
    } else if (fitting === 0 && (!closest || tried.applied > closest.applied)) {
      forget(closest);
      closest = tried;
    } else forget(tried);
  }
  return { fitting, closest: closest! };
}

/**
 * Drops findings of an outcome, which is kept until the composition is complete. If it is not reported, it only matters
 * that there are errors.
 */
function forget(outcome: Run | undefined): void {
  if (outcome) outcome.found.length = Math.min(outcome.found.length, 1);
}
