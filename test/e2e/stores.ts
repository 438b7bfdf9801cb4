import { afterAll, beforeAll, describe } from 'vitest';
import type { StoreName } from '../../src/store/drivers.ts';
import {
  type Backend,
  backendMissing,
  durableStores,
  startBackend,
  storeArguments,
} from '../support/store/backends.ts';
import { type Qd, startQd } from './program.ts';

/** Declares the tests once for every durable store, or for those that are named, each with one server for all of them. */
export function onEveryStore(
  tests: (server: () => Qd, store: StoreName) => void,
  stores: readonly StoreName[] = durableStores,
): void {
  // They run concurrently, since clients are programs that mostly wait; the tests on one store run in order.
  describe.concurrent.each(stores)('on %s', (store) => {
    const missing = backendMissing(store);
    if (missing) console.log(missing);
    describe.skipIf(missing !== undefined).sequential('in order', () => {
      let backend: Backend | undefined;
      let qd: Qd;
      beforeAll(async () => {
        backend = await startBackend(store);
        qd = await startQd({ flags: storeArguments(store, backend.settings) });
      });
      afterAll(async () => {
        await qd?.stop();
        await backend?.remove();
      });
      tests(() => qd, store);
    });
  });
}
