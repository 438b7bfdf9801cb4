import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import type { Say } from '../../output/steps.ts';
import type { StartContext } from '../context.ts';
import { encrypting, keyFileIn } from './encryption.ts';
import type { StoreFlags } from './flags.ts';

export interface OpenStore {
  readonly store: Store;
  /** Re-encrypts, in the background, what is not encrypted with the newest key. */
  encryptStale(): void;
}

/** Opens the store of the settings. Secrets are encrypted in every store that outlives the process. */
export async function openStore(context: StartContext, say: Say): Promise<OpenStore> {
  const { settings, directory, cleanup, clock, random, log } = context;
  const driver = storeDriver(settings.store);
  const store = await driver.open(settings, { directory, clock, log, ...history(settings) });
  cleanup.add(() => store.close());
  say(`${driver.name}, revision ${await store.revision()}`);
  if (!driver.durable) return { store, encryptStale: () => undefined };
  const file = settings.encryptionKeyFile ?? keyFileIn(directory);
  return encrypting(store, { file, cleanup, log, random });
}

/** How far back watches and lists at a revision can go; absent: the default. */
export function history({ historyDuration, historyBytes }: Pick<StoreFlags, 'historyDuration' | 'historyBytes'>) {
  return {
    ...(historyDuration === undefined ? {} : { historyMilliseconds: historyDuration }),
    ...(historyBytes === undefined ? {} : { historyBytes }),
  };
}
