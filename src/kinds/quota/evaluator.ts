/**
 * What objects use of a ResourceQuota. One file for each sort of object that uses more than its own number; all others
 * are counted (objects.ts). Pure, and used twice: by the server when something is written, and by the controller that
 * counts everything anew.
 */
import type { Amounts } from '../shapes/pod/pod-resources.ts';

export interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Only ever called with objects of its kind, so that evaluators of different kinds fit into one map (see kind.ts). */
export interface QuotaEvaluator<T = unknown> {
  /** Whether objects of the kind use this resource of a quota, such as `pods` or `requests.cpu`. */
  counts(resource: string): boolean;
  /** What the object uses, at this time (milliseconds since the epoch). */
  usage(object: T, now: number): Amounts;
  /** Whether the object is in a scope. */
  isIn(object: T, scope: Requirement): boolean;
  /** What the object leaves open that these resources must know; undefined when nothing. */
  missing?(object: T, resources: readonly string[]): string | undefined;
}

/** How a selector compares with the one value, or none, that an object has. */
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
