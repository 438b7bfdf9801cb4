import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { Client } from '../../../client/client.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { classNameOf, freeByClass, volumesByClaim } from '../../../kinds/volumes/binding.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import type { Plan } from '../../loop/plan.ts';
import { conditionOf } from '../../shared/conditions.ts';
import { podsByClaim } from '../../shared/pods/pod-indexes.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { type Claim, type Counterpart, isUnbound, type Volume, type World } from './bind.ts';
import { planClaim, waitsForPod } from './claims.ts';
import { planVolume, recycledVolume } from './volumes.ts';

export const volumeBinderController: Controller = defineController<any, Counterpart>({
  name: 'persistentvolume-binder',
  account: 'persistent-volume-binder',
  component: 'persistentvolume-controller',
  also: [
    related(PersistentVolumeClaim, keysOfClaim),
    related(PersistentVolume, keysOfVolume),
    related(StorageClass, keysOfClass),
    related(Pod, keysOfPod, (pod, old) => !isStuck(pod) === !isStuck(old) && isTerminal(pod) === isTerminal(old)),
  ],
  observe: (_, world, { client }) => observe(world, client),
  plan: (_, world) => planKey(world),
});

export function planKey(world: World & Pick<Snapshot, 'key'>): Plan {
  const { namespace, name } = world.key;
  if (namespace === undefined) return planVolume(world.of(PersistentVolume).get(name), world);
  return planClaim(world.of(PersistentVolumeClaim).get(name, namespace), world);
}

/** Asks the server before a volume counts as lost or released: two caches are not in step. */
async function observe({ key, of }: Pick<Snapshot, 'key' | 'of'>, client: Client): Promise<Counterpart> {
  if (key.namespace !== undefined) {
    const name = of(PersistentVolumeClaim).get(key.name, key.namespace)?.spec.volumeName;
    if (!name || of(PersistentVolume).get(name)) return {};
    return { volume: await client.of(PersistentVolume).find(name) };
  }
  const volume = of(PersistentVolume).get(key.name);
  const { name = '', namespace, uid } = volume?.spec.claimRef ?? {};
  if (!uid || volume?.status.phase === 'Released' || volume?.status.phase === 'Failed') return {};
  if (of(PersistentVolumeClaim).get(name, namespace)?.metadata.uid === uid) return {};
  return { claim: await client.of(PersistentVolumeClaim).in(namespace).find(name) };
}

/** An index: claims by the volume that they name, bound or not. */
const claimsByVolume = ({ spec }: Claim): readonly string[] => (spec.volumeName ? [spec.volumeName] : []);

/** An index: claims that look for any volume, by their class. */
const seekersByClass = (claim: Claim): readonly string[] =>
  isUnbound(claim) && !claim.spec.volumeName ? [classNameOf(claim)] : [];

function keysOfClaim(claim: Claim, { of }: Listers): readonly string[] {
  const key = keyOf(claim);
  const { volumeName } = claim.spec;
  const volumes = of(PersistentVolume)
    .by(volumesByClaim, key)
    .map(({ metadata }) => metadata.name ?? '');
  return [key, ...(volumeName ? [volumeName] : []), ...volumes];
}

function keysOfVolume(volume: Volume, { of }: Listers): readonly string[] {
  const { name = '' } = volume.metadata;
  const claims = of(PersistentVolumeClaim);
  const named = claims.by(claimsByVolume, name).map(keyOf);
  // Claims that wait for a pod get their volume from the scheduler.
  const [className] = freeByClass(volume);
  const isOffered = className !== undefined && !waitsForPod(of(StorageClass).get(className));
  const seekers = isOffered ? claims.by(seekersByClass, className).map(keyOf) : [];
  return [name, ...volumesByClaim(volume), ...named, ...seekers];
}

/** Claims of the class, and those without a class that may get it as the default. */
function keysOfClass({ metadata: { name = '' } }: DeepReadonly<StorageClass>, { of }: Listers): readonly string[] {
  const claims = of(PersistentVolumeClaim);
  return [...claims.by(seekersByClass, name), ...claims.by(seekersByClass, '')].map(keyOf);
}

/** The claims of an unscheduled pod, and the volume that a recycler pod has emptied. */
function keysOfPod(pod: SeenPod): readonly string[] {
  const recycled = recycledVolume(pod);
  if (recycled !== undefined) return [recycled];
  return isStuck(pod) ? podsByClaim(pod) : [];
}

const isStuck = (pod: SeenPod) => !pod.spec.nodeName && conditionOf(pod, 'PodScheduled')?.status === 'False';
