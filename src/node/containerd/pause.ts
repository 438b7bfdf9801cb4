import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../base/own-files/make-directories.ts';
import type { Clock } from '../../base/time/clock.ts';
import { PAUSE_IMAGE, writePauseImage } from '../images/pause/pause-image.ts';
import type { Connection } from './connection.ts';
import { loadArchive } from './load/load.ts';
import { cri } from './methods.ts';

/** Loads the image that keeps sandboxes alive, under the name that the runtime expects, if it does not have one. */
export async function ensurePauseImage(
  name: string | undefined,
  { connection, clock, directory }: { connection: Connection; clock: Clock; directory: string },
): Promise<void> {
  const wanted = name ?? PAUSE_IMAGE;
  const { image } = await connection.call(cri.imageStatus, { image: { image: wanted } });
  if (image) return;
  await makeDirectories(directory);
  // A separate directory: `qd image` may open the runtime while the node is starting.
  const folder = await mkdtemp(join(directory, 'pause-'));
  try {
    const archive = join(folder, 'pause.tar');
    await writePauseImage(archive, process.arch);
    await loadArchive(archive, { connection, clock, as: wanted, unpacks: false });
  } finally {
    await rm(folder, { recursive: true });
  }
}
