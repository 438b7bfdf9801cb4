import type { StoreConflict } from '../../../store/store.ts';
import type { Reader } from '../ports.ts';
import type { ApiRequest } from '../registry/registry.ts';

type Ports = Pick<Reader, 'cache'>;

/** Waits until the cache has seen the write that a commit conflicted with. Throws when the client has disconnected. */
export async function catchUp({ cache }: Ports, { call }: ApiRequest, { revision }: StoreConflict): Promise<void> {
  call.signal?.throwIfAborted();
  // Without a revision the row was deleted, and only the store knows when.
  await (revision > 0 ? cache.reached(revision) : cache.fresh());
}
