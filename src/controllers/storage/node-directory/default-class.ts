/**
 * Gives a new cluster its first storage class, once. That it was made is noted on the namespace `kube-system`: a class that
 * was deleted or changed since stays as its owner wants it, and a cluster that has classes of its own gets none.
 */
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { DEFAULT_MARK } from '../../../kinds/volumes/default-class.ts';
import { NODE_DIRECTORY } from '../../../kinds/volumes/node-directory.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { create, type Plan, patch } from '../../loop/plan.ts';

const HOME = 'kube-system';
/** Taken away, the class is made anew where there is none. */
const MADE = 'storageclass.kubernetes.io/default-was-made';

export const defaultClassController: Controller = defineController({
  name: 'default-storage-class',
  account: 'default-storage-class-controller',
  also: [related(Namespace, ({ metadata }) => (metadata.name === HOME ? [HOME] : [])), related(StorageClass, () => [])],
  plan: (_, { of }) => planDefaultClass(of(Namespace).get(HOME), { of }),
});

export function planDefaultClass(home: DeepReadonly<Namespace> | undefined, { of }: Listers): Plan {
  if (!home || home.metadata.annotations?.[MADE] !== undefined) return [];
  const note = { metadata: { uid: home.metadata.uid, annotations: { [MADE]: 'true' } } };
  return [
    ...(of(StorageClass).list().length === 0 ? [create(StorageClass, standard)] : []),
    patch(Namespace, home, { type: 'merge', changes: note }),
  ];
}

const standard: Draft<StorageClass> = {
  metadata: { name: 'standard', annotations: { [DEFAULT_MARK]: 'true' } },
  provisioner: NODE_DIRECTORY,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};
