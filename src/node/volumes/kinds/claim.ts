/** Persistent volumes, through a claim of the pod's namespace: its own, or one that was made for the pod alone. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { chmod, makeDirectory, stat } from '../../../base/files/own/own-files.ts';
import type { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { nodeDirectory } from '../../../kinds/volumes/node-directory.ts';
import { prepareCsi } from '../csi/prepare-csi.ts';
import { applyFsGroup } from '../host/ownership.ts';
import { type PreparedVolume, VolumeError } from '../volumes.ts';
import { prepareHostPath } from './host-path.ts';
import { prepareNfs } from './nfs.ts';
import type { VolumeSetup } from './setup.ts';

/** Error for a claim that cannot be used, so that there is no volume to set up. */
export class ClaimError extends VolumeError {}

type Volume = DeepReadonly<PersistentVolume>;
type Claim = DeepReadonly<PersistentVolumeClaim>;

interface BoundClaim {
  readonly claim: Claim;
  readonly volume: Volume;
}

export async function prepareClaim(setup: VolumeSetup): Promise<PreparedVolume> {
  const prepared = await preparePersistentVolume(setup, await boundVolume(setup));
  const readOnly = setup.volume.persistentVolumeClaim?.readOnly ?? false;
  return prepared.type === 'directory' ? { ...prepared, readOnly: prepared.readOnly || readOnly } : prepared;
}

/** Returns the claim of a pod's volume and the volume that it is bound to. Rejects with a ClaimError. */
export async function boundVolume(setup: VolumeSetup): Promise<BoundClaim> {
  const { pod, volume } = setup;
  const namespace = pod.metadata.namespace ?? '';
  const name = volume.ephemeral
    ? `${pod.metadata.name}-${volume.name}`
    : (volume.persistentVolumeClaim?.claimName ?? '');
  const claim = await boundClaim(setup, namespace, name);
  const persistent = await setup.host.api.persistentVolume(claim.spec.volumeName ?? '');
  const fail = (why: string) => new ClaimError(`error processing PVC ${namespace}/${name}: ${why}`);
  if (!persistent) {
    throw fail(
      `failed to fetch PV "${claim.spec.volumeName}" from API server: persistentvolumes "${claim.spec.volumeName}" not found`,
    );
  }
  if (persistent.spec.claimRef?.uid !== undefined && persistent.spec.claimRef.uid !== claim.metadata.uid) {
    throw fail(`PV "${persistent.metadata.name}" is bound to another claim`);
  }
  return { claim, volume: persistent };
}

async function boundClaim({ pod, volume, host }: VolumeSetup, namespace: string, name: string): Promise<Claim> {
  const claim = await host.api.claim(namespace, name);
  const fail = (why: string) => new ClaimError(`error processing PVC ${namespace}/${name}: ${why}`);
  if (!claim) throw fail(`failed to fetch PVC from API server: persistentvolumeclaims "${name}" not found`);
  if (volume.ephemeral) {
    const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.uid !== pod.metadata.uid) {
      const { name: podName } = pod.metadata;
      throw new ClaimError(
        `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`,
      );
    }
  }
  if (claim.metadata.deletionTimestamp !== undefined && !claim.metadata.finalizers?.length) {
    throw fail('PVC is being deleted');
  }
  if (claim.status?.phase !== 'Bound' || !claim.spec.volumeName) throw fail('PVC is not bound');
  return claim;
}

async function preparePersistentVolume(setup: VolumeSetup, bound: BoundClaim): Promise<PreparedVolume> {
  const { volume: persistent } = bound;
  const { hostPath, local, nfs, csi, mountOptions = [] } = persistent.spec;
  if (local) return prepareLocal(setup, persistent, local);
  if (hostPath) return prepareHostPath(hostPath.path, hostPath.type ?? '');
  if (nfs) return prepareNfs(setup, { ...nfs, mountOptions });
  if (csi) return prepareCsi(setup, { type: 'persistent', ...bound });
  throw new VolumeError(`no volume plugin matched name: PersistentVolume "${persistent.metadata.name}"`);
}

/** Prepares a directory or device of this node. The first pod creates the directory of a provisioned volume. */
async function prepareLocal(
  { pod, host, ids }: VolumeSetup,
  persistent: Volume,
  local: { readonly path: string },
): Promise<PreparedVolume> {
  const provisioned = nodeDirectory(persistent);
  if (provisioned && provisioned.node !== host.nodeName) {
    throw new VolumeError(`volume "${persistent.metadata.name}" is a directory of the node ${provisioned.node}`);
  }
  const path = provisioned ? await host.directoryOf(provisioned) : local.path;
  if (provisioned) await makeProvisioned(path);
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new VolumeError(`path "${path}" does not exist`);
    throw error;
  });
  if (stats.isDirectory()) await applyFsGroup(path, pod, { readOnly: false, honorsPolicy: true, ids });
  return { type: 'directory', path, readOnly: false, selinuxRelabel: true };
}

async function makeProvisioned(path: string): Promise<void> {
  if (await makeDirectory(path, TRAVERSED_DIRECTORY)) await chmod(path, 0o777);
}
