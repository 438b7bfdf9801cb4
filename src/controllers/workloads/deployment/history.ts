/** Old ReplicaSets beyond the history limit. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { UNLIMITED } from '../../../kinds/conversion/unlimited.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { type Action, remove } from '../../loop/plan.ts';
import { compareRevisions } from './annotations.ts';
import { byAge, type WorkingSet } from './working-set.ts';

/** Deletes the oldest revisions beyond the limit that have no pods left. */
export function cleanUp({ spec }: DeepReadonly<Deployment>, old: readonly WorkingSet[]): readonly Action[] {
  const { revisionHistoryLimit: limit = UNLIMITED } = spec;
  if (limit === UNLIMITED) return [];
  const kept = old.filter(({ set }) => !set.metadata.deletionTimestamp);
  return kept
    .sort((a, b) => compareRevisions(a.set, b.set) || byAge(a, b))
    .slice(0, Math.max(0, kept.length - limit))
    .filter(isEmpty)
    .map(({ set }) => remove(ReplicaSet, set));
}

function isEmpty({ set, replicas }: WorkingSet): boolean {
  const { metadata, spec, status } = set;
  const isObserved = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
  return replicas === 0 && spec.replicas === 0 && (status.replicas ?? 0) === 0 && isObserved;
}
