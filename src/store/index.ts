/**
 * The store: ordered keys, bytes and revisions. It knows no kind. The contract is in store.ts; contract.ts is the suite
 * that every implementation passes. An implementation is loaded when it is asked for, so that a test on the memory store
 * pays for neither LMDB nor gRPC.
 */
import type { EmbeddedStore } from './embedded/embedded-store.ts';
import type { EmbeddedStoreOptions } from './embedded/open.ts';
import type { EtcdStoreOptions } from './etcd/etcd-store.ts';
import type { HistoryOptions } from './history-options.ts';
import { MemoryStore } from './memory/memory-store.ts';
import type { Store } from './store.ts';

export * from './store.ts';
export type { EmbeddedStore, EmbeddedStoreOptions, EtcdStoreOptions, HistoryOptions };

/** In a directory: the default. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const embedded = await import('./embedded/open.ts');
  return embedded.openEmbeddedStore(options);
}

/** On etcd v3, which several servers may share. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { EtcdStore } = await import('./etcd/etcd-store.ts');
  return EtcdStore.open(options);
}

/** In this process only. */
export function createMemoryStore(options: HistoryOptions): Store {
  return new MemoryStore(options);
}
