import { keyFileIn } from '../../../assembly/store/encryption.ts';
import type { StoreOptions } from '../../../assembly/store/open.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { historyLimits } from '../api/options.ts';
import type { StartContext } from '../context.ts';

/** How the flags of a start open its store. Secrets are encrypted in every store that outlives the process. */
export function storeOptions(context: StartContext): StoreOptions {
  const { settings, directory } = context;
  const driver = storeDriver(settings.store);
  const keyFile = driver.durable ? (settings.encryptionKeyFile ?? keyFileIn(directory)) : undefined;
  return { ...context, ...historyLimits(settings), driver, settings, keyFile };
}
