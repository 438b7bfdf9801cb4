/** Makes one volume usable, by its kind. */
import { ContainerConfigError } from '../../container/inputs.ts';
import { zeroByteInVolume } from '../../runtime/zero-bytes.ts';
import { prepareCsi } from '../csi/prepare-csi.ts';
import { PayloadError } from '../files/payload.ts';
import { isFileVolume } from '../files/sources.ts';
import { type PreparedVolume, VolumeError, VolumeStepError } from '../volumes.ts';
import { ClaimError, prepareClaim } from './claim.ts';
import { prepareEmptyDir } from './empty-dir.ts';
import { prepareFileVolume } from './file-volume.ts';
import { prepareHostPath } from './host-path.ts';
import { prepareNfs } from './nfs.ts';
import type { PodVolume, VolumeSetup } from './setup.ts';

/** Rejects with a VolumeError, worded as kubelet's event FailedMount. */
export async function prepareVolume(setup: VolumeSetup): Promise<PreparedVolume> {
  try {
    return await prepareByKind(setup);
  } catch (error) {
    throw setUpFailure(setup.volume.name, error);
  }
}

/** Failures of the API, of the disk and of volumes are all reported; mistakes of the program are not hidden. */
export function setUpFailure(volume: string, error: unknown): unknown {
  const isKnown =
    error instanceof VolumeError ||
    error instanceof PayloadError ||
    error instanceof ContainerConfigError ||
    (error instanceof Error && !(error instanceof TypeError || error instanceof ReferenceError));
  if (!isKnown) return error;
  if (error instanceof ClaimError) {
    const which = `unmounted volumes=[${volume}], unattached volumes=[], failed to process volumes=[${volume}]`;
    return new VolumeError(`Unable to attach or mount volumes: ${which}: ${error.message}`, { cause: error });
  }
  const step = error instanceof VolumeStepError ? error.step : 'SetUp';
  return new VolumeError(`MountVolume.${step} failed for volume "${volume}" : ${error.message}`, { cause: error });
}

async function prepareByKind(setup: VolumeSetup): Promise<PreparedVolume> {
  const { volume, pod, host } = setup;
  const problem = zeroByteInVolume(volume);
  if (problem !== undefined) throw new VolumeError(problem);
  if (isFileVolume(volume)) return prepareFileVolume(setup);
  if (volume.hostPath) return prepareHostPath(volume.hostPath.path, volume.hostPath.type ?? '');
  if (volume.persistentVolumeClaim || volume.ephemeral) return prepareClaim(setup);
  if (volume.nfs) return prepareNfs(setup, volume.nfs);
  if (volume.csi) return prepareCsi(setup, { type: 'inline', source: volume.csi });
  if (volume.image) {
    const { reference = '', pullPolicy } = volume.image;
    return { type: 'image', imageId: await host.api.pullImage(pod, reference, pullPolicy) };
  }
  if (volume.emptyDir) return prepareEmptyDir(setup);
  throw new VolumeError(`no volume plugin matched: volumes of type ${kindOf(volume)} are not supported`);
}

const kindOf = (volume: PodVolume): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
