import type { FaultSpec } from '../../../kinds/groups/testing/fault-spec.ts';

/** A fault, and the requests that it affects. Omitted fields match everything. */
export interface FaultRule {
  readonly verbs?: readonly string[] | undefined;
  /** Resources by plural: `pods`. */
  readonly resources?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
  /** Fraction of matching requests that are affected, from 0 to 1; default: 1. */
  readonly rate?: number | undefined;
  /** Number of requests after which the fault ends; default: no limit. */
  readonly times?: number | undefined;
  /** The code of the error with which requests fail. */
  readonly error?: FaultCode | undefined;
  readonly latencyMs?: number | undefined;
  readonly dropWatchesAfterMs?: number | undefined;
  readonly staleWatchesMs?: number | undefined;
}

export type FaultCode = 409 | 429 | 500 | 503;

export function ruleOfSpec(spec: FaultSpec): FaultRule {
  const { latencyMilliseconds, dropWatchesAfterMilliseconds, staleWatchesMilliseconds, error, ...match } = spec;
  return {
    ...match,
    error: error as FaultCode | undefined,
    latencyMs: latencyMilliseconds,
    dropWatchesAfterMs: dropWatchesAfterMilliseconds,
    staleWatchesMs: staleWatchesMilliseconds,
  };
}
