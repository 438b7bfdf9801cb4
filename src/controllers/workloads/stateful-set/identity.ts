/** The identity of a StatefulSet's pod: its name consists of the set and the ordinal, and never changes. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Action, patch } from '../../loop/plan.ts';

export type SeenSet = DeepReadonly<StatefulSet>;

const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

const ORDINAL = /^(.*)-(0|[1-9]\d{0,9})$/;

/** Ordinals are 32-bit integers. */
export const MAX_ORDINAL = 2 ** 31 - 1;

export const podName = ({ metadata }: SeenSet, ordinal: number) => `${metadata.name}-${ordinal}`;

/** Returns undefined when the name is not of the set. */
export function ordinalOf({ metadata }: SeenPod, set: SeenSet): number | undefined {
  const [, parent, ordinal] = ORDINAL.exec(metadata.name ?? '') ?? [];
  return parent === set.metadata.name && Number(ordinal) <= MAX_ORDINAL ? Number(ordinal) : undefined;
}

/** Returns the name without the ordinal; undefined when there is none. */
export const parentOf = (name: string): string | undefined => ORDINAL.exec(name)?.[1];

export const identityLabels = (name: string, ordinal: number) => ({
  [NAME_LABEL]: name,
  [INDEX_LABEL]: String(ordinal),
});

/** Restores the labels by which services find a pod. */
export function restoreIdentity({ metadata }: SeenPod, ordinal: number): readonly Action[] {
  const { name = '', uid, labels } = metadata;
  if (labels?.[NAME_LABEL] === name) return [];
  const changes = { metadata: { uid, labels: identityLabels(name, ordinal) } };
  return [patch(Pod, { metadata }, { type: 'merge', changes })];
}
