/** Copies the store of a cluster, which may be running, into memory. Nothing in it changes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Cleanup } from '../../../../assembly/cleanup.ts';
import { startCopiedMember } from '../../../../assembly/etcd/copied-member.ts';
import { isMemberRunning } from '../../../../assembly/etcd/left-process.ts';
import { memberPaths } from '../../../../assembly/etcd/paths.ts';
import { silent } from '../../../../base/log.ts';
import { systemRandom } from '../../../../base/random.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { defaultStore, type StoreSettings, storeDriver } from '../../../../store/drivers.ts';
import type { StoreImage } from '../../../../store/memory/memory-store.ts';
import { type Row, type Store, StoreUnavailable } from '../../../../store/store.ts';
import { CliError } from '../../../output/cli-error.ts';
import { explainDamage } from '../../../output/store-damage.ts';
import { freePort } from '../../../process/listen.ts';
import type { Remembered } from '../../settings/settle.ts';

const PAGE_ROWS = 1_000;
const LOOPBACK = '127.0.0.1';

interface Copying {
  /** A private directory, for a store that is copied as files first. Values stay encrypted. */
  readonly scratch: string;
  readonly cleanup: Cleanup;
}

/** The etcd of a server that is stopped does not run: a copy of it does for a moment. */
export async function readCopy(directory: string, remembered: Remembered, copying: Copying): Promise<StoreImage> {
  const isStopped = remembered.ha && !(await isMemberRunning(memberPaths(directory)));
  if (!isStopped) return readStore(directory, remembered, copying.scratch);
  const member = new Cleanup();
  copying.cleanup.add(() => member.run());
  const scratch = join(copying.scratch, 'member');
  const [clientPort, peerPort] = [await freePort(LOOPBACK, systemRandom), await freePort(LOOPBACK, systemRandom)];
  const serving = await startCopiedMember({
    directory,
    scratch,
    address: { host: LOOPBACK, clientPort, peerPort },
    path: process.env.PATH ?? '',
    clock: systemClock,
    random: systemRandom,
    log: silent,
    cleanup: member,
  });
  try {
    return await readStore(directory, { ...remembered, ...serving }, copying.scratch);
  } finally {
    await member.run();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function readStore(directory: string, remembered: Remembered, scratch: string): Promise<StoreImage> {
  const driver = storeDriver(remembered.store ?? defaultStore);
  if (!driver.durable) {
    throw new CliError(`the objects of this cluster are in ${driver.location}, which no other release continues with`);
  }
  const { snapshots } = driver;
  const isCopied = !('instead' in snapshots);
  const given = remembered as StoreSettings;
  if (isCopied) await snapshots.copy(snapshots.pathIn(directory, given), join(scratch, 'store'));
  const context = { directory: isCopied ? scratch : directory, clock: systemClock, log: silent };
  const settings = isCopied ? { ...given, storeDir: undefined } : given;
  const store = await driver.open(settings, context).catch((error: unknown) => explainClosed(error, remembered));
  try {
    return await imageOf(store);
  } catch (error) {
    return explainDamage(error);
  } finally {
    await store.close();
  }
}

function explainClosed(error: unknown, { ha }: Remembered): never {
  if (!(error instanceof StoreUnavailable) || !ha) throw error;
  throw new CliError(
    'the etcd of this server does not answer: start the server, or run the preview on a server that runs',
    { cause: error },
  );
}

async function imageOf(store: Store): Promise<StoreImage> {
  const rows: Row[] = [];
  let page = await store.list('', { limit: PAGE_ROWS });
  const { revision } = page;
  for (;;) {
    rows.push(...page.rows);
    const after = page.rows.at(-1)?.key;
    if (!page.more || after === undefined) return { revision, rows };
    page = await store.list('', { limit: PAGE_ROWS, revision, after });
  }
}
