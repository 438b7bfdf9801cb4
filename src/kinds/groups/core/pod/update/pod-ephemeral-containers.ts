/** The subresource `ephemeralcontainers`: containers can be added for debugging, and cannot be changed or removed. */
import { indexBy } from '../../../../../base/collections/index-by.ts';
import { clone, deepEqual } from '../../../../../base/json/tree.ts';
import { type FieldError, forbidden, under } from '../../../../../schema/field-error.ts';
import { MIRROR, podAnnotationChanges } from '../../../../shapes/pod/pod-annotations.ts';
import type { Pod } from '../pod-fields.ts';
import { keepOwnMetadata } from './pod-metadata.ts';
import { treeDiff } from './tree-diff.ts';

/** Number of containers whose differences are reported; of further ones, only the names are reported. */
const MAX_DIFFS = 5;

/** Reverts every other change. */
export function keepAllButEphemeralContainers(pod: Pod, old: Pod): void {
  const { ephemeralContainers } = pod.spec;
  keepOwnMetadata(pod, old);
  pod.spec = { ...clone(old.spec), ephemeralContainers };
  if (!ephemeralContainers) delete pod.spec.ephemeralContainers;
}

export function ephemeralContainersRules(pod: Pod, old: Pod): FieldError[] {
  if (old.metadata.annotations?.[MIRROR] !== undefined) {
    return [forbidden('', 'static pods do not support ephemeral containers')];
  }
  const found = under('metadata.annotations', podAnnotationChanges(pod.metadata.annotations, old.metadata.annotations));
  const containers = indexBy(pod.spec.ephemeralContainers, ({ name }) => name);
  let diffs = 0;
  for (const before of old.spec.ephemeralContainers ?? []) {
    const now = containers.get(before.name);
    const changed = `existing ephemeral containers ${JSON.stringify(before.name)} may not be`;
    if (!now) found.push(forbidden('spec.ephemeralContainers', `${changed} removed\n`));
    else if (!deepEqual(now, before)) {
      const diff = ++diffs <= MAX_DIFFS ? treeDiff(before, now) : '';
      found.push(forbidden('spec.ephemeralContainers', `${changed} changed\n${diff}`));
    }
  }
  return found;
}
