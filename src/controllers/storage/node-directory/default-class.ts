/**
 * Creates the first StorageClass of a new cluster, once. An annotation of the namespace `kube-system` records it: a
 * class that is deleted or changed later stays so, and a cluster with other classes gets none.
 */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { DEFAULT_MARK } from '../../../kinds/volumes/default-class.ts';
import { NODE_DIRECTORY } from '../../../kinds/volumes/node-directory.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { create, type Plan, patch } from '../../loop/plan.ts';

const NAMESPACE = 'kube-system';
/** Marks that the default class was created. Without the annotation, it is created again if there is none. */
const CREATED_ANNOTATION = 'storageclass.kubernetes.io/default-was-made';

export const defaultClassController: Controller = defineController({
  name: 'default-storage-class',
  account: 'default-storage-class-controller',
  also: [
    related(Namespace, ({ metadata }) => (metadata.name === NAMESPACE ? [NAMESPACE] : [])),
    related(StorageClass, () => []),
  ],
  plan: (_, { of }) => planDefaultClass(of(Namespace).get(NAMESPACE), { of }),
});

export function planDefaultClass(home: DeepReadonly<Namespace> | undefined, { of }: Listers): Plan {
  if (!home || home.metadata.annotations?.[CREATED_ANNOTATION] !== undefined) return [];
  const note = { metadata: { uid: home.metadata.uid, annotations: { [CREATED_ANNOTATION]: 'true' } } };
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
