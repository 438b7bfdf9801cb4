/**
 * The store: ordered keys, bytes and revisions, independent of kinds. store.ts is the contract; driver.ts and
 * drivers.ts describe the available stores. Implementations are loaded on use, so a test on the memory store loads
 * neither LMDB nor gRPC.
 */
import type { EmbeddedStore } from './embedded/embedded-store.ts';
import type { EmbeddedStoreOptions } from './embedded/open.ts';
import type { EtcdStoreOptions } from './etcd/etcd-store.ts';
import type { Store } from './store.ts';

export * from './store.ts';
export type { EmbeddedStore, EmbeddedStoreOptions, EtcdStoreOptions };

/** Opens a store in a directory. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const embedded = await import('./embedded/open.ts');
  return embedded.openEmbeddedStore(options);
}

/** Opens a store on etcd v3, which several servers may share. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { EtcdStore } = await import('./etcd/etcd-store.ts');
  return EtcdStore.open(options);
}
