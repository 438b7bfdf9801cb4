/** Attaches, stages and publishes a volume of a CSI driver. */

import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory } from '../../../base/files/own/own-files.ts';
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { type AttachableVolume, attachmentName } from '../../../kinds/volumes/attachment.ts';
import { isMore } from '../../../kinds/volumes/growth.ts';
import type { VolumesApi } from '../api.ts';
import { applyFsGroup } from '../host/ownership.ts';
import type { VolumeSetup } from '../kinds/setup.ts';
import { type PreparedVolume, VolumeError, VolumeStepError } from '../volumes.ts';
import {
  type CsiSource,
  type CsiVolume,
  capabilityOf,
  csiVolume,
  type DriverSettings,
  ownsFiles,
} from './describe-volume.ts';
import { CAPABILITY, csi, type VolumeCapability } from './messages.ts';
import { podContext, secretValues } from './publish-context.ts';
import { writeVolumeData } from './volume-data.ts';

/**
 * Period for renewing tokens of published volumes, and their content if the driver asks for that, and for looking at
 * sizes.
 */
const REFRESH_MS = 60_000;

interface Publication {
  readonly source: CsiSource;
  readonly volume: CsiVolume;
  readonly settings: DriverSettings;
  readonly capability: VolumeCapability;
  readonly publishContext: Readonly<Record<string, string>>;
  /** Path of staging; empty when the driver does not stage volumes. */
  readonly stagingPath: string;
  readonly targetPath: string;
}

/** Idempotent, as the calls of CSI are. */
export async function prepareCsi(setup: VolumeSetup, source: CsiSource): Promise<PreparedVolume> {
  const { pod, uid, host, ids } = setup;
  const volume = csiVolume(setup, source);
  const settings = await host.api.csiDriver?.(volume.driver);
  checkLifecycle(volume, source, settings);
  const capabilities = await host.csi.capabilities(volume.driver);
  const isStaged = source.type === 'persistent' && capabilities.has(CAPABILITY.stagesVolumes);
  const isAttached = source.type === 'persistent' && settings?.spec.attachRequired !== false;
  const stagingPath = isStaged ? stagingPathOf(host.layout.csiStaging, volume) : '';
  const directory = host.layout.volume(uid, 'csi', volume.specName);
  const targetPath = join(directory, 'mount');
  // Before anything is mounted, so that a crash leaves nothing behind that is not known.
  const record = async () => {
    await makeDirectory(directory, TRAVERSED_DIRECTORY);
    await writeVolumeData(directory, {
      driverName: volume.driver,
      volumeHandle: volume.volumeHandle,
      volumeLifecycleMode: source.type === 'inline' ? 'Ephemeral' : 'Persistent',
      specVolID: volume.specName,
      nodeName: host.nodeName,
      attachmentID: isAttached ? attachmentName(volume, host.nodeName) : '',
      stagingPath,
      podVolume: setup.volume.name,
      claim: source.type === 'persistent' ? (source.claim.metadata.name ?? '') : undefined,
    });
  };
  // Recorded, it is not unstaged any more by the pod that had it before.
  await host.staging.run(stagingPath || directory, record);
  if (isAttached) await host.inUse.report();
  const publishContext = isAttached ? await attached(volume, host) : {};
  const group = pod.spec.securityContext?.fsGroup;
  const capability = capabilityOf(volume, { capabilities, group });
  const publication = { source, volume, settings, capability, publishContext, stagingPath, targetPath };
  if (isStaged) await stage(setup, publication);
  await publish(setup, publication);
  if (ownsFiles(volume, settings, capabilities)) {
    await applyFsGroup(targetPath, pod, { readOnly: volume.readOnly, honorsPolicy: true, ids });
  }
  if (source.type === 'persistent' && capabilities.has(CAPABILITY.expandsVolumes)) {
    await expandVolume(setup, { ...source, described: volume, capability, stagingPath, targetPath });
  }
  return { type: 'directory', path: targetPath, readOnly: volume.readOnly, selinuxRelabel: false };
}

/** Brings a published volume up to date, and returns when that is due again; undefined: nothing of it changes. */
export async function refreshCsi(setup: VolumeSetup, source: CsiSource): Promise<number | undefined> {
  const { uid, host } = setup;
  const volume = csiVolume(setup, source);
  const settings = await host.api.csiDriver?.(volume.driver);
  const capabilities = await host.csi.capabilities(volume.driver);
  const republishes = settings?.spec.requiresRepublish ?? false;
  const expands = source.type === 'persistent' && capabilities.has(CAPABILITY.expandsVolumes);
  if (!republishes && !expands) return undefined;
  const capability = capabilityOf(volume, { capabilities, group: setup.pod.spec.securityContext?.fsGroup });
  const isStaged = source.type === 'persistent' && capabilities.has(CAPABILITY.stagesVolumes);
  const stagingPath = isStaged ? stagingPathOf(host.layout.csiStaging, volume) : '';
  const targetPath = join(host.layout.volume(uid, 'csi', volume.specName), 'mount');
  if (republishes) {
    const isAttached = source.type === 'persistent' && settings?.spec.attachRequired !== false;
    const publishContext = isAttached ? await attached(volume, host) : {};
    await publish(setup, { source, volume, settings, capability, publishContext, stagingPath, targetPath });
  }
  if (expands) await expandVolume(setup, { ...source, described: volume, capability, stagingPath, targetPath });
  return host.clock.now() + REFRESH_MS;
}

function checkLifecycle({ driver }: CsiVolume, source: CsiSource, settings: DriverSettings): void {
  const modes = settings?.spec.volumeLifecycleModes ?? ['Persistent'];
  if (source.type !== 'inline' || !settings || modes.includes('Ephemeral')) return;
  const supported = modes.map((mode) => `"${mode}"`).join(' ');
  throw new VolumeError(
    `kubernetes.io/csi: mounter.SetUpAt failed: volume mode "Ephemeral" not supported by driver ${driver} (only supports [${supported}])`,
  );
}

async function stage(setup: VolumeSetup, publication: Publication): Promise<void> {
  const { volume, capability, publishContext, stagingPath } = publication;
  try {
    await makeDirectory(stagingPath, TRAVERSED_DIRECTORY);
    await setup.host.csi.call(volume.driver, csi.stage, {
      volumeId: volume.volumeHandle,
      publishContext,
      stagingPath,
      capability,
      volumeContext: volume.attributes,
      secrets: await secretValues(setup, volume.stageSecret, 'NodeStageSecretRef'),
    });
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    throw new VolumeStepError('MountDevice', error.message, { cause: error });
  }
}

async function publish(setup: VolumeSetup, publication: Publication): Promise<void> {
  const { volume, capability, publishContext, stagingPath, targetPath } = publication;
  await setup.host.csi.call(volume.driver, csi.publish, {
    volumeId: volume.volumeHandle,
    publishContext,
    stagingPath,
    targetPath,
    capability,
    readOnly: volume.readOnly,
    ...(await podContext(setup, publication)),
  });
}

/** Returns the path at which a volume is staged, as kubelet names it. */
function stagingPathOf(staging: string, { driver, volumeHandle }: CsiVolume): string {
  const name = createHash('sha256').update(volumeHandle).digest('hex');
  const path = join(staging, driver, name, 'globalmount');
  if (!dirname(dirname(path)).startsWith(`${staging}/`)) throw new VolumeError(`invalid driver name ${driver}`);
  return path;
}

type Expansion = Pick<Extract<CsiSource, { type: 'persistent' }>, 'volume' | 'claim'> & {
  readonly described: CsiVolume;
  readonly capability: VolumeCapability;
  readonly stagingPath: string;
  readonly targetPath: string;
};

/** Expands the volume if it is larger than the size that the claim reports. */
async function expandVolume(setup: VolumeSetup, expansion: Expansion): Promise<void> {
  const { volume, claim, described, capability, stagingPath, targetPath } = expansion;
  const size = volume.spec.capacity?.storage;
  const before = claim.status?.capacity?.storage;
  if (described.readOnly || size === undefined || before === undefined || !isMore(size, before)) return;
  await setup.host.csi.call(described.driver, csi.expand, {
    volumeId: described.volumeHandle,
    volumePath: targetPath,
    range: { requiredBytes: Number(scaled(parseQuantity(size), 0)) },
    stagingPath,
    capability,
    secrets: await secretValues(setup, described.expandSecret, 'NodeExpandSecretRef'),
  });
  await setup.host.api.claimExpanded?.(claim, size);
}

const POLL_MS = 500;
/** Number of polls, during which all other work on the pod's volumes waits. After that, the plan tries again. */
const MAX_POLLS = 20;

interface AttachmentContext {
  readonly nodeName: string;
  readonly api: Pick<VolumesApi, 'volumeAttachment'>;
  readonly clock: Clock;
}

/** Returns the publish context of the attacher. A node may only get its attachments, so that it has to poll. */
async function attached(
  volume: AttachableVolume,
  { nodeName, api, clock }: AttachmentContext,
): Promise<Readonly<Record<string, string>>> {
  const name = attachmentName(volume, nodeName);
  const fail = (message: string) => new VolumeStepError('WaitForAttach', message);
  for (let polls = 1; ; polls++) {
    const attachment = await api.volumeAttachment?.(name);
    if (attachment?.metadata.deletionTimestamp) throw fail('volume attachment is being deleted');
    if (attachment?.status?.attached) return attachment.status.attachmentMetadata ?? {};
    const error = attachment?.status?.attachError?.message;
    if (error) throw fail(error);
    if (polls === MAX_POLLS) {
      const { driver, volumeHandle } = volume;
      throw fail(`timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${volumeHandle}`);
    }
    await sleep(clock, POLL_MS);
  }
}
