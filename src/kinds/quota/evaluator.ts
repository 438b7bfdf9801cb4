/** Computes the usage of a kind: by admission when an object is written, and by the quota controller for all. */
import type { Amounts } from '../shapes/pod/pod-resources.ts';

export interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/**
 * Usage rules of a kind. Callers pass objects of that kind only, so that evaluators of different kinds fit into one map
 * (see kind.ts).
 */
export interface QuotaEvaluator<T = unknown> {
  /** Reports whether objects of the kind use this resource of a quota, such as `pods` or `requests.cpu`. */
  counts(resource: string): boolean;
  /** The usage of the object at a time in milliseconds since 1970. */
  usage(object: T, now: number): Amounts;
  /** Reports whether a scope includes the object. */
  isIn(object: T, scope: Requirement): boolean;
  /** Names what the object must specify because of quotas on these resources; undefined when nothing is missing. */
  missing?(object: T, resources: readonly string[]): string | undefined;
}

/** Reports whether a scope selector matches the value that an object has, or its absence. */
export function selects({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
