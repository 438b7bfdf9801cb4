/**
 * Erases the directories of this node whose volumes are being deleted, and then lets the volumes go (see
 * kinds/volumes/node-directory.ts). A directory that cannot be erased is reported in the volume's status, and tried again.
 */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { ClientTools } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { isToRemove, NODE, nodeDirectory, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import { mountPointsBelow } from '../host/mount-table.ts';
import type { Mounter } from '../host/mounter.ts';
import { VolumeError } from '../volumes.ts';
import type { OwnDirectory } from './own-directory.ts';

export interface NodeDirectoriesOptions extends ClientTools {
  readonly nodeName: string;
  readonly mounter: Pick<Mounter, 'entries'>;
  readonly directoryOf: OwnDirectory;
  readonly signal: AbortSignal;
}

type Volume = DeepReadonly<PersistentVolume>;

const RETRY = { base: 1_000, max: 300_000 };

/** The volumes that a node may list. */
export const directorySelector = (nodeName: string): string => `${NODE}=${nodeName}`;

/** Follows the volumes that `directorySelector` selects, until the signal is aborted. */
export async function eraseNodeDirectories(
  volumes: Informer<PersistentVolume>,
  options: NodeDirectoriesOptions,
): Promise<void> {
  const { nodeName, clock, random, log, signal } = options;
  const newest = new Map<string, Volume>();
  const loop = new ReconcileLoop({
    clock,
    random,
    log,
    backoff: RETRY,
    isPatient: true,
    failure: 'cannot erase a volume',
    async reconcile(name) {
      const volume = newest.get(name);
      if (volume) await eraseVolume(volume, options);
    },
  });
  const leave = volumes.onChange(({ type, object }) => {
    const { name = '' } = object.metadata;
    newest.delete(name);
    if (type === 'delete' || !isToRemove(object) || nodeDirectory(object)?.node !== nodeName) return;
    newest.set(name, object);
    loop.add(name);
  });
  try {
    await loop.run(signal);
  } finally {
    leave();
  }
}

async function eraseVolume(volume: Volume, options: NodeDirectoriesOptions): Promise<void> {
  const { client, mounter, directoryOf, signal } = options;
  const directory = nodeDirectory(volume);
  if (!directory) return;
  const { name = '', uid } = volume.metadata;
  try {
    const path = await directoryOf(directory);
    const mounted = mountPointsBelow(await mounter.entries(), path);
    if (mounted.length) throw new VolumeError(`${mounted[0]} is mounted`);
    await removeTree(path);
  } catch (error) {
    const status = { phase: 'Failed', reason: 'VolumeFailedDelete', message: (error as Error).message };
    const { phase, message } = volume.status ?? {};
    if (phase !== status.phase || message !== status.message) {
      const changes = { metadata: { uid }, status };
      await client.of(PersistentVolume).patchStatus(name, { type: 'merge', changes }, { signal });
    }
    throw error;
  }
  const changes = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [REMOVAL] } };
  try {
    await client.of(PersistentVolume).patch(name, { type: 'strategic', changes }, { signal });
  } catch (error) {
    if (!isApiError(error, 'NotFound', 'Conflict')) throw error;
  }
}
