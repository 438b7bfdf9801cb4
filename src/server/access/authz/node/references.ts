/** The objects that a pod or a volume needs on its node. */
import type { Sparse } from '../../../../kinds/columns/column.ts';
import type { PersistentVolume } from '../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Container } from '../../../../kinds/shapes/container/container.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];

/** The kinds that a pod refers to by name, in its own namespace. */
export type ReferredKind = 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'resourceclaims' | 'serviceaccounts';

export interface Reference {
  readonly kind: ReferredKind;
  readonly name: string;
}

/** Returns the references of a pod, possibly with duplicates. */
export function referencesOf({ metadata, spec = {}, status = {} }: Sparse<Pod>): Reference[] {
  const found: Reference[] = [];
  const add = (kind: ReferredKind, name: string | undefined) => {
    if (name) found.push({ kind, name });
  };
  add('serviceaccounts', spec.serviceAccountName);
  for (const { name } of spec.imagePullSecrets ?? []) add('secrets', name);
  for (const list of [spec.initContainers, spec.containers, spec.ephemeralContainers]) {
    for (const container of list ?? []) addOfContainer(container, add);
  }
  for (const volume of spec.volumes ?? []) {
    addOfVolume(volume, add);
    // The claim of an ephemeral volume is named after the pod.
    if (volume.ephemeral) add('persistentvolumeclaims', `${metadata?.name}-${volume.name}`);
  }
  for (const { name, resourceClaimName } of spec.resourceClaims ?? []) {
    const made = status.resourceClaimStatuses?.find((each) => each.name === name);
    add('resourceclaims', resourceClaimName ?? made?.resourceClaimName);
  }
  add('resourceclaims', status.extendedResourceClaimStatus?.resourceClaimName);
  return found;
}

type Add = (kind: ReferredKind, name: string | undefined) => void;

function addOfContainer({ env = [], envFrom = [] }: Sparse<Pick<Container, 'env' | 'envFrom'>>, add: Add): void {
  for (const { valueFrom } of env) {
    add('secrets', valueFrom?.secretKeyRef?.name);
    add('configmaps', valueFrom?.configMapKeyRef?.name);
  }
  for (const { secretRef, configMapRef } of envFrom) {
    add('secrets', secretRef?.name);
    add('configmaps', configMapRef?.name);
  }
}

const TYPES_WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function addOfVolume(volume: Sparse<Volume>, add: Add): void {
  add('secrets', volume.secret?.secretName);
  add('secrets', volume.azureFile?.secretName);
  add('secrets', volume.csi?.nodePublishSecretRef?.name);
  for (const type of TYPES_WITH_SECRET_REF) add('secrets', volume[type]?.secretRef?.name);
  add('configmaps', volume.configMap?.name);
  add('persistentvolumeclaims', volume.persistentVolumeClaim?.claimName);
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    add('secrets', secret?.name);
    add('configmaps', configMap?.name);
  }
}

/** Returns the secrets that a node needs to mount a volume, without those that only controllers need. */
export function secretsOfVolume({
  spec = {},
}: Sparse<PersistentVolume>): { readonly namespace: string; readonly name: string }[] {
  const home = spec.claimRef?.namespace ?? '';
  const { csi, azureFile } = spec;
  const named = [
    ...TYPES_WITH_SECRET_REF.map((type) => spec[type]?.secretRef),
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace },
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef],
  ];
  return named.flatMap((ref) => (ref?.name ? [{ namespace: ref.namespace || home, name: ref.name }] : []));
}
