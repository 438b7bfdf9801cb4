import { clone } from '../../../../../base/json/tree.ts';
import type { Pod } from '../pod-fields.ts';

const own = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Reverts changes of the metadata in a write of a subresource. */
export function keepOwnMetadata({ metadata }: Pod, old: Pod): void {
  const kept = old.metadata;
  for (const field of own) {
    if (kept[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: clone(kept[field]) });
  }
}
