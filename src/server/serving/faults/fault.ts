/** A description of what goes wrong, and for which requests. Fields that are left out match everything. */
export interface FaultRule {
  readonly verbs?: readonly string[] | undefined;
  /** Plurals: `pods`. */
  readonly resources?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Names of users. */
  readonly users?: readonly string[] | undefined;
  /** The share of matching requests that it happens to, from 0 to 1; default: 1. */
  readonly rate?: number | undefined;
  /** How many requests it happens to before it ends; default: no limit. */
  readonly times?: number | undefined;
  /** The code of the error that they fail with. */
  readonly error?: FaultCode | undefined;
  /** They are performed this much later. */
  readonly latencyMs?: number | undefined;
  /** Watches end this long after they began. */
  readonly dropWatchesAfterMs?: number | undefined;
  /** Events of watches arrive this much later. */
  readonly staleWatchesMs?: number | undefined;
}

export type FaultCode = 409 | 429 | 500 | 503;
