/** Waits until a volume is attached to the node, which an external attacher does. */
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { type AttachableVolume, attachmentName } from '../../../kinds/volumes/attachment.ts';
import type { VolumesApi } from '../api.ts';
import { VolumeStepError } from '../volumes.ts';

const POLL_MS = 500;
/** Number of polls, during which all other work on the pod's volumes waits. After that, the plan tries again. */
const MAX_POLLS = 20;

export interface AttachmentContext {
  readonly nodeName: string;
  readonly api: Pick<VolumesApi, 'volumeAttachment'>;
  readonly clock: Clock;
}

/** Returns the publish context of the attacher. A node may only get its attachments, so that it has to poll. */
export async function attached(
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
