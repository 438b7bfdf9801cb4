/** Stages and publishes a volume of a CSI driver. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { applyFsGroup } from '../host/ownership.ts';
import type { PodVolume, VolumeSetup } from '../kinds/setup.ts';
import { type PreparedVolume, VolumeError } from '../volumes.ts';
import { NodePublishVolume, NodeStageVolume, type VolumeCapability } from './messages.ts';
import { writeVolumeData } from './volume-data.ts';

export type CsiSource =
  | { readonly type: 'inline'; readonly source: NonNullable<PodVolume['csi']> }
  | { readonly type: 'persistent'; readonly volume: DeepReadonly<PersistentVolume> };

/** Numbers of CSI's AccessMode.Mode. */
const ACCESS_MODES: Readonly<Record<string, number>> = {
  ReadWriteOnce: 1,
  ReadOnlyMany: 3,
  ReadWriteMany: 5,
  ReadWriteOncePod: 6,
};
const SINGLE_NODE_WRITER = 1;

/** Idempotent, as the calls of CSI are. */
export async function prepareCsi(setup: VolumeSetup, source: CsiSource): Promise<PreparedVolume> {
  const { pod, uid, host } = setup;
  const request = describe(setup, source);
  const directory = host.layout.volume(uid, 'csi', request.specName);
  const targetPath = join(directory, 'mount');
  const settings = await host.api.csiDriver?.(request.driver);
  if (source.type === 'inline' && settings && !settings.spec.volumeLifecycleModes?.includes('Ephemeral')) {
    throw new VolumeError(
      `kubernetes.io/csi: mounter.SetUpAt failed: volume mode "Ephemeral" not supported by driver ${request.driver} (only supports [${(settings.spec.volumeLifecycleModes ?? ['Persistent']).map((mode) => `"${mode}"`).join(' ')}])`,
    );
  }
  const isStaged = source.type === 'persistent' && (await host.csi.stagesVolumes(request.driver));
  const stagingPath = isStaged ? stagingPathOf(host.layout.csiStaging, request.driver, request.handle) : '';
  await mkdir(directory, { recursive: true, mode: 0o750 });
  // Before anything is mounted, so that a crash leaves nothing behind that is not known.
  await writeVolumeData(directory, {
    driverName: request.driver,
    volumeHandle: request.handle,
    volumeLifecycleMode: source.type === 'inline' ? 'Ephemeral' : 'Persistent',
    specVolID: request.specName,
    nodeName: host.nodeName,
    stagingPath,
  });
  const volume = { volumeId: request.handle, capability: request.capability };
  if (isStaged) {
    await mkdir(stagingPath, { recursive: true, mode: 0o750 });
    const secrets = await secretValues(setup, request.stageSecret);
    const staging = { ...volume, stagingPath, secrets, volumeContext: request.attributes };
    await host.csi.call(request.driver, NodeStageVolume, staging);
  }
  await host.csi.call(request.driver, NodePublishVolume, {
    ...volume,
    stagingPath,
    targetPath,
    readOnly: request.readOnly,
    secrets: await secretValues(setup, request.publishSecret),
    volumeContext: { ...request.attributes, ...(settings?.spec.podInfoOnMount ? podInfo(setup, source) : {}) },
  });
  if (ownsFiles(request, settings?.spec.fsGroupPolicy)) {
    await applyFsGroup(targetPath, pod, { readOnly: request.readOnly, honorsPolicy: true });
  }
  return { type: 'directory', path: targetPath, readOnly: request.readOnly, selinuxRelabel: false };
}

type SecretRef = { readonly name?: string; readonly namespace?: string } | undefined;

function describe({ pod, uid, volume: { name } }: VolumeSetup, source: CsiSource) {
  if (source.type === 'inline') {
    const { driver, fsType = '', readOnly = false, volumeAttributes = {}, nodePublishSecretRef } = source.source;
    const publishSecret: SecretRef = nodePublishSecretRef && {
      name: nodePublishSecretRef.name ?? '',
      namespace: pod.metadata.namespace ?? '',
    };
    const handle = `csi-${createHash('sha256').update(`${uid}${name}`).digest('hex')}`;
    const capability: VolumeCapability = { isBlock: false, fsType, mountFlags: [], accessMode: SINGLE_NODE_WRITER };
    const stageSecret: SecretRef = undefined;
    return {
      driver,
      handle,
      specName: name,
      readOnly,
      attributes: volumeAttributes,
      capability,
      publishSecret,
      stageSecret,
    };
  }
  const { metadata, spec } = source.volume;
  const { csi, accessModes = [], mountOptions = [] } = spec;
  if (!csi) throw new VolumeError('the volume has no CSI source');
  return {
    driver: csi.driver,
    handle: csi.volumeHandle,
    specName: metadata.name ?? name,
    readOnly: csi.readOnly ?? false,
    attributes: csi.volumeAttributes ?? {},
    capability: {
      isBlock: spec.volumeMode === 'Block',
      fsType: csi.fsType ?? '',
      mountFlags: mountOptions,
      accessMode: ACCESS_MODES[accessModes[0] ?? ''] ?? SINGLE_NODE_WRITER,
    },
    publishSecret: csi.nodePublishSecretRef as SecretRef,
    stageSecret: csi.nodeStageSecretRef as SecretRef,
  };
}

/** Where a volume is staged, as kubelet names it. */
function stagingPathOf(staging: string, driver: string, handle: string): string {
  const name = createHash('sha256').update(handle).digest('hex');
  const path = join(staging, driver, name, 'globalmount');
  if (!dirname(dirname(path)).startsWith(`${staging}/`)) throw new VolumeError(`invalid driver name ${driver}`);
  return path;
}

async function secretValues({ host }: VolumeSetup, reference: SecretRef): Promise<Record<string, string>> {
  if (!reference) return {};
  const { name = '', namespace = '' } = reference;
  const secret = await host.api.secret(namespace, name);
  if (!secret)
    throw new VolumeError(`fetching NodePublishSecretRef ${namespace}/${name} failed: secrets "${name}" not found`);
  const values = Object.entries(secret.data ?? {});
  return Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

function podInfo({ pod }: VolumeSetup, { type }: CsiSource): Record<string, string> {
  return {
    'csi.storage.k8s.io/pod.name': pod.metadata.name ?? '',
    'csi.storage.k8s.io/pod.namespace': pod.metadata.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': pod.metadata.uid ?? '',
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(type === 'inline'),
  };
}

/** By default, only of volumes with a file system that one node alone writes. */
function ownsFiles({ capability, readOnly }: ReturnType<typeof describe>, policy: string | undefined): boolean {
  if (policy === 'None' || capability.isBlock) return false;
  if (policy === 'File') return true;
  return capability.fsType !== '' && capability.accessMode === SINGLE_NODE_WRITER && !readOnly;
}
