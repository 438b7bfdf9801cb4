/** Contract of the part that enforces policies. */
import type { PolicySet } from './policy-set.ts';

export interface PolicyApplier {
  /** Resolves when new connections follow the policies, all of which are given. After it was rejected, it must be called again. */
  isolate(policies: PolicySet): Promise<void>;
}
