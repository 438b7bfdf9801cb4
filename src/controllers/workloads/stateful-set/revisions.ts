/** The two templates of a StatefulSet that is being updated: the current and the new one. */
import type { Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Listers } from '../../loop/define.ts';
import type { Action } from '../../loop/plan.ts';
import {
  forget,
  history,
  REVISION_LABEL,
  revisionHash,
  type SeenRevision,
  type Template,
  templateOf,
} from '../../shared/history/history.ts';
import { newPod } from '../../shared/pods/new-pod.ts';
import { volumesOf } from './claims.ts';
import { identityLabels, podName, type SeenSet } from './members.ts';

/** The label of a revision with its hash. Pods carry the full name of their revision. */
const HASH_LABEL = 'controller.kubernetes.io/hash';

export interface Revisions {
  readonly current: SeenRevision;
  readonly update: SeenRevision;
  readonly collisions: number;
  readonly actions: readonly Action[];
}

export function revisionsOf(
  set: SeenSet,
  mine: readonly SeenRevision[],
  { pods, world }: { readonly pods: readonly SeenPod[]; readonly world: Listers },
): Revisions {
  const { currentRevision, collisionCount = 0 } = set.status;
  const { present, older, collisions, actions } = history(set as never, {
    kind: StatefulSet,
    revisions: mine,
    pods,
    world,
    hashLabel: HASH_LABEL,
    markOf: nameOf,
    collisions: collisionCount,
    hashOf: (_template, data, taken = 0) => revisionHash(data, taken),
  });
  const current = older.find((revision) => nameOf(revision) === currentRevision) ?? present;
  return {
    current,
    update: present,
    collisions: collisions ?? 0,
    actions: [...actions, ...cleanUp(set, { older, current, pods })],
  };
}

export const nameOf = ({ metadata }: SeenRevision) => metadata.name ?? '';

export const revisionOf = ({ metadata }: SeenPod): string | undefined => metadata.labels?.[REVISION_LABEL];

/** The pod for an ordinal, from the template that belongs there. */
export function memberPod(set: SeenSet, ordinal: number, { current, update }: Revisions): Draft<Pod> {
  const revision = ordinal < firstToUpdate(set) ? current : update;
  const template: Template = templateOf(revision) ?? (set.spec.template as Template);
  const pod = newPod(set, StatefulSet, template as never);
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata?.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: nameOf(revision) };
  const { serviceName } = set.spec;
  const volumes = volumesOf(set, ordinal, template.spec.volumes);
  return {
    metadata: { ...pod.metadata, name, labels },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(serviceName ? { subdomain: serviceName } : {}),
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  } as Draft<Pod>;
}

/** Returns the first ordinal to update. Without a partition, as many pods keep the current revision as have it. */
function firstToUpdate({ spec, status }: SeenSet): number {
  const { type, rollingUpdate } = spec.updateStrategy;
  const start = spec.ordinals?.start ?? 0;
  if (rollingUpdate) return start + (rollingUpdate.partition ?? 0);
  return type === 'RollingUpdate' ? start + (status.currentReplicas ?? 0) : start;
}

/** Deletes the oldest revisions beyond the limit; those that pods use do not count. A negative limit means none. */
function cleanUp(
  { spec }: SeenSet,
  past: { readonly older: readonly SeenRevision[]; readonly current: SeenRevision; readonly pods: readonly SeenPod[] },
): readonly Action[] {
  const { revisionHistoryLimit: limit = 10 } = spec;
  if (limit < 0 || past.older.length <= limit) return [];
  const live = new Set([nameOf(past.current), ...past.pods.map(revisionOf)]);
  const unused = past.older.filter((revision) => !live.has(nameOf(revision)));
  return forget(unused, unused.length - limit);
}
