import { join } from 'node:path';
import { silent } from '../../../src/base/log.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import type { Archive } from '../../../src/store/archive/archive.ts';
import { openArchive } from '../../../src/store/archive/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStore, type StoreSpec } from '../stores.ts';

export interface Opened {
  readonly store: Store;
  readonly archive: Archive;
}

/** Opens a store and its archive, as a server does. */
export async function openBoth(spec: StoreSpec): Promise<Opened> {
  const store = await openStore(spec);
  const archive = await openArchive({
    directory: join(spec.directory, 'history'),
    store,
    clock: systemClock,
    log: silent,
    milliseconds: 3_600_000,
    bytes: 2 ** 30,
    prefix: '/',
    except: [],
  });
  return { store, archive };
}
