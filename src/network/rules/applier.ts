/** Contract of the part that makes traffic follow rules. One contract suite runs on every implementation. */
import type { RuleSet } from './rule-set.ts';

export interface RuleChange {
  /** Services whose rules may have changed, with all their rules; a deleted service has none. */
  readonly services: RuleSet;
  /** The ranges of cluster IPs. */
  readonly serviceRanges: readonly string[];
}

/** The first change has all services. Calls do not overlap. */
export interface RuleApplier {
  /**
   * Resolves when new connections follow the rules; open ones continue. After a rejection, the next call also applies
   * the changes of the failed one.
   */
  apply(change: RuleChange): Promise<void>;
  /** Removes everything. */
  close(): Promise<void>;
}
