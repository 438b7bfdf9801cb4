/** Decides whether enough indexes of a Job have succeeded for its success policy. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import { IndexSet } from './index-set.ts';

/** Returns the rule that is met, as a message. */
export function metRule({ spec }: DeepReadonly<Job>, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  const rules = spec.successPolicy?.rules ?? [];
  const index = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Number.POSITIVE_INFINITY);
    const wanted = IndexSet.parse(succeededIndexes, spec.completions ?? 0);
    return wanted.size > 0 && succeeded.inCommon(wanted) >= (succeededCount ?? wanted.size);
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}
