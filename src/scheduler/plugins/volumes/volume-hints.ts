/** Queueing hints for pods with volumes, shared by the volume plugins. */
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { EventOf } from '../../framework/events.ts';

/** A claim of the pod was added or changed. */
export function ownClaim({ type, object }: EventOf<'PersistentVolumeClaim'>, { namespace, claims }: PodInfo): boolean {
  return type !== 'delete' && object.metadata.namespace === namespace && claims.includes(object.metadata.name ?? '');
}

/** A node was added, or has other labels and may be in another zone. */
export function mayHaveMoved({ type, object, old }: EventOf<'Node'>): boolean {
  return (
    type === 'add' ||
    (type === 'update' && JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels))
  );
}
