/** Estimates whether rules may cost too much; messages are those of Kubernetes. */
import type { Program } from '../../../cel/program.ts';
import type { JsonSchema } from '../../../json-schema/json-schema.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import { type DeclaredType, MAX_REQUEST_BYTES, maxSizeAt } from './declared-type.ts';

/** Maximum cost of one rule on the largest object. */
export const MAX_RULE_COST = 10_000_000;
/** Maximum cost of all rules of a version together. */
const MAX_SCHEMA_COST = 100_000_000;
const MAX_COST = 2 ** 64;
/** The rules that are named when the whole costs too much. */
const MAX_NAMED_RULES = 4;

/** The most that one evaluation can cost. */
export function maxCost(program: Program, declared: DeclaredType): number {
  return program.estimateCost(({ path }) => {
    const most = path?.length ? maxSizeAt(declared, path) : undefined;
    return most === undefined ? undefined : { min: 0, max: most };
  }).max;
}

/** Returns how many values of a type fit into a request. */
export const maxOccurrences = ({ minBytes }: DeclaredType) => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1));

/** Returns how many children one value of a schema can have; undefined without a limit. */
export function maxChildren({ type, additionalProperties, maxProperties, maxItems }: JsonSchema): number | undefined {
  const limit = (value: number | undefined) => (value === undefined ? undefined : Math.max(0, value));
  if (type === 'object' && additionalProperties !== undefined) return limit(maxProperties);
  return type === 'array' ? limit(maxItems) : 1;
}

export const times = (cost: number, count: number) => Math.min(cost * count, MAX_COST);

export function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Adds up the costs of all rules of a schema. */
export class TotalCost {
  #total = 0;
  #expensive: { readonly path: string; readonly cost: number }[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, MAX_COST);
    if (cost < MAX_SCHEMA_COST / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => b.cost - a.cost);
    this.#expensive.length = Math.min(this.#expensive.length, MAX_NAMED_RULES);
  }

  /** `path` is that of the schema. */
  errors(path: string): FieldError[] {
    if (this.#total <= MAX_SCHEMA_COST) return [];
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#expensive.map((each) => forbidden(each.path, detail)),
      forbidden(path, costMessage(name, this.#total, MAX_SCHEMA_COST)),
    ];
  }
}
