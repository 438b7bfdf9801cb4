import { afterAll, beforeAll, describe } from 'vitest';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { type Qd, startQd } from './program.ts';

/**
 * Declares the tests once on the embedded store and once on etcd, each with one server for all of them. The two stores
 * have their turn at the same time, since clients are programs that mostly wait; the tests on one store are in order.
 */
export function onEveryStore(tests: (server: () => Qd) => void): void {
  describe.concurrent.each(['embedded', 'etcd'])('on %s', (store) => {
    const missing = store === 'etcd' ? etcdMissing() : undefined;
    if (missing) console.log(missing);
    describe.skipIf(missing !== undefined).sequential('in order', () => {
      let etcd: TestEtcd | undefined;
      let qd: Qd;
      beforeAll(async () => {
        if (store === 'etcd') etcd = await TestEtcd.start();
        qd = await startQd({ flags: etcd ? ['--store', 'etcd', '--etcd-servers', etcd.endpoint] : [] });
      });
      afterAll(async () => {
        await qd?.stop();
        await etcd?.remove();
      });
      tests(() => qd);
    });
  });
}
