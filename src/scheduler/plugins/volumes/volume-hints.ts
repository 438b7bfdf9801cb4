/** What helps pods with volumes, whichever rule about volumes refused them. */
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { EventOf } from '../../framework/events.ts';

/** A claim of the pod's own came or changed. */
export function ownClaim({ type, object }: EventOf<'PersistentVolumeClaim'>, { namespace, claims }: PodInfo): boolean {
  return type !== 'delete' && object.metadata.namespace === namespace && claims.includes(object.metadata.name ?? '');
}

/** A node came, or has other labels and may be elsewhere by them. */
export function otherPlace({ type, object, old }: EventOf<'Node'>): boolean {
  return (
    type === 'add' ||
    (type === 'update' && JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels))
  );
}
