/** Starts a saved state as a cluster in memory, and reads every object through its API. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../../assembly/cleanup.ts';
import { startCluster } from '../../../assembly/cluster/start-cluster.ts';
import { writeSavedKeys } from '../../../assembly/store/backups/saved-files.ts';
import { encryptedWith, readKeys } from '../../../assembly/store/encryption.ts';
import type { SavedState } from '../../../backup/restoring/state.ts';
import { systemRandom } from '../../../base/random.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { compareKeys } from '../../../store/keys.ts';
import { freePort } from '../../process/listen.ts';
import { rememberIn } from '../../up/directory/directory.ts';
import { findUnreadable, servedKinds } from '../../up/upgrade/preview/inspect.ts';
import { COPY_HOST, prepareCopy } from '../../up/upgrade/preview/prepare-copy.ts';
import { restoredSettings } from '../restore/settings.ts';
import { kindCounts } from './kind-counts.ts';
import type { BackupReport } from './report.ts';

const READY_TIMEOUT_MS = 30_000;

type Started = Pick<BackupReport, 'kinds' | 'unreadable' | 'secondsToReady'>;

/** `scratch`: a private directory. */
export async function startSaved(state: SavedState, scratch: string, cleanup: Cleanup): Promise<Started> {
  const [directory, running] = [join(scratch, 'saved'), join(scratch, 'start')];
  for (const path of [directory, running]) await mkdir(path, { mode: 0o700 });
  await writeSavedKeys(directory, state.files);
  await rememberIn(directory, restoredSettings(state));
  const rows = [...state.rows].sort((a, b) => compareKeys(a.key, b.key));
  const image = { revision: state.about.revision, rows };
  const port = await freePort(COPY_HOST, systemRandom);
  const began = performance.now();
  const copy = await prepareCopy({ directory, scratch: running, port, image, accepted: {}, cleanup });
  const cluster = await startCluster(copy.options);
  cluster.open();
  const { authority: ca, admin } = cluster.keys();
  const transport = httpsTransport({
    server: `https://${COPY_HOST}:${port}`,
    ca,
    cert: admin.certificate,
    key: admin.key,
  });
  try {
    await transport.ready(READY_TIMEOUT_MS);
    const secondsToReady = (performance.now() - began) / 1_000;
    const stored = encryptedWith(copy.before, await readKeys(copy.keyFile), systemRandom);
    // Damaged values are named by the list of their kind.
    const readable = (await stored.list('', { damaged: () => undefined })).rows;
    const served = await servedKinds(transport);
    const unreadable = await findUnreadable(transport, served, readable);
    return { kinds: kindCounts(rows, served), unreadable, secondsToReady };
  } finally {
    transport.close();
  }
}
