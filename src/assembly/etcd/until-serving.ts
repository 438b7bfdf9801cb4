/** Waits until a member of etcd serves. */
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { EtcdStore } from '../../store/etcd/etcd-store.ts';
import { StoreUnavailable } from '../../store/index.ts';
import type { Tools } from '../context.ts';

export interface Serving {
  readonly endpoint: string;
  readonly tls: TlsOptions;
  readonly clock: Clock;
  readonly log: Tools['log'];
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;
const PATIENCE_MS = 10_000;

/** Resolves when most members of its cluster have a leader. */
export async function untilServing({ endpoint, tls, clock, log, signal }: Serving): Promise<void> {
  let warnAt = clock.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const store = await EtcdStore.open({ endpoints: [endpoint], tls, clock });
      return await store.close();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (clock.now() > warnAt) {
        log.warn('etcd does not serve yet: it waits for most of the other servers', { error: error.message });
        warnAt = clock.now() + PATIENCE_MS;
      }
    }
    await sleep(clock, RETRY_MS, signal);
  }
}
