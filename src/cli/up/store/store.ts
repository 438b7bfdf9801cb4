/** Opens the store that the settings name. */
import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { createMemoryStore, openEmbeddedStore, openEtcdStore, type Store } from '../../../store/index.ts';
import type { UpFlags } from '../flags.ts';
import type { Remembered } from '../settings/settings.ts';
import { type EtcdFlags, etcdTls } from './etcd.ts';

export interface StoreOptions {
  readonly settings: Pick<Remembered, 'store' | keyof EtcdFlags>;
  readonly flags: Pick<UpFlags, 'historyDuration' | 'historyBytes'>;
  /** The cluster's data directory. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function openStore({ settings, flags, directory, clock, log }: StoreOptions): Promise<Store> {
  const options = { clock, log, ...history(flags) };
  switch (settings.store) {
    case 'embedded':
      return openEmbeddedStore({ ...options, directory: join(directory, 'store') });
    case 'etcd': {
      const tls = await etcdTls(settings);
      return openEtcdStore({ ...options, endpoints: settings.etcdServers ?? [], ...(tls && { tls }) });
    }
    case 'memory':
      return createMemoryStore(options);
  }
}

/** How far back watches and exact lists go, where a flag says it. */
export function history({ historyDuration, historyBytes }: Pick<UpFlags, 'historyDuration' | 'historyBytes'>) {
  return {
    ...(historyDuration === undefined ? {} : { historyMilliseconds: historyDuration }),
    ...(historyBytes === undefined ? {} : { historyBytes }),
  };
}
