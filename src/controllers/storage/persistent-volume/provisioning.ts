/** Requests provisioning: the provisioner of the class sees its name on the claim. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { classNameOf, OLD_PROVISIONER, PROVISIONER } from '../../../kinds/volumes/binding.ts';
import { event, type Plan, update } from '../../loop/plan.ts';
import type { Claim } from './states.ts';

/** The prefix of in-tree plugins in Kubernetes. There are none here. */
const IN_TREE_PREFIX = 'kubernetes.io/';

export function planProvisioning(claim: Claim, storageClass: DeepReadonly<StorageClass> | undefined): Plan {
  if (!storageClass) return failed(claim, `storageclass.storage.k8s.io "${classNameOf(claim)}" not found`);
  const { provisioner } = storageClass;
  if (provisioner.startsWith(IN_TREE_PREFIX)) return failed(claim, `no volume plugin matched name: ${provisioner}`);
  if (claim.metadata.annotations?.[PROVISIONER] === provisioner) return [];
  const annotations = { ...claim.metadata.annotations, [OLD_PROVISIONER]: provisioner, [PROVISIONER]: provisioner };
  const asking = { ...claim, metadata: { ...claim.metadata, annotations } } as Draft<PersistentVolumeClaim>;
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
    'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
  return [update(PersistentVolumeClaim, asking), event(claim, 'Normal', 'ExternalProvisioning', message)];
}

function failed(claim: Claim, message: string): Plan {
  return [event(claim, 'Warning', 'ProvisioningFailed', message)];
}
