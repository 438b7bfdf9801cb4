import { encryptedWith, readKeys } from '../../../assembly/store/encryption.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { defaultStore, type StoreSettings, storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import { rememberedIn } from '../directory/directory.ts';

/**
 * Opens the store of a cluster for a command other than `qd up`, also while servers use it. Resolves with undefined when
 * the store is not shared: then only the process that runs the cluster may open it.
 */
export async function openSharedStore(directory: string, keyFile: string): Promise<Store | undefined> {
  const settings = await rememberedIn(directory);
  const driver = storeDriver(settings.store ?? defaultStore);
  if (!driver.shared) return undefined;
  const keys = await readKeys(keyFile);
  const store = await driver.open(settings as StoreSettings, { directory, clock: systemClock, log: silent });
  return encryptedWith(store, keys, systemRandom);
}
