/** Records that an external resizer handles a claim's expansion. */
import { keyOf } from '../../../client/informer/object-cache.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { isMore, isToGrow } from '../../../kinds/volumes/growth.ts';
import { requestOf } from '../../../kinds/volumes/matching.ts';
import { type Controller, defineController, related } from '../../loop/define.ts';
import { event, type Plan } from '../../loop/plan.ts';
import type { Claim } from './bind.ts';

export const volumeExpanderController: Controller = defineController({
  name: 'persistentvolume-expander',
  account: 'expand-controller',
  component: 'volume_expand',
  also: [
    related(
      PersistentVolumeClaim,
      (claim) => [keyOf(claim)],
      (claim, old) => !hasGrown(claim, old),
    ),
  ],
  plan: (_, { key, of }) => planExpansion(of(PersistentVolumeClaim).get(key.name, key.namespace)),
});

export function planExpansion(claim: Claim | undefined): Plan {
  if (!claim || !isToGrow(claim)) return [];
  return [event(claim, 'Normal', 'ExternalExpanding', 'waiting for an external controller to expand this PVC')];
}

const hasGrown = (claim: Claim, old: Claim) => isMore(requestOf(claim), requestOf(old));
