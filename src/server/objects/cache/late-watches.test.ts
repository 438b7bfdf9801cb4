import { expect, it } from 'vitest';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import type { Watcher } from '../../../store/store.ts';
import { Cache } from './cache.ts';

/** A store with slow history: `give` delivers the changes to the last watch besides the first one. */
class SlowStore extends MemoryStore {
  readings = 0;
  give: () => void = () => {};
  #follower = true;

  override watch(after: number, watcher: Watcher) {
    if (this.#follower) {
      this.#follower = false;
      return super.watch(after, watcher);
    }
    this.readings++;
    this.give = () => super.watch(after, watcher);
    return { stop: () => {} };
  }
}

it('reads the history once, however much is written in the meantime', async () => {
  const clock = new ControlledClock();
  const store = new SlowStore({ clock });
  const cache = new Cache({ store, clock, log: silent, historyMilliseconds: 60_000, historyBytes: 0, freeze: true });
  await cache.start();
  const write = (name: string) =>
    store.commit([{ key: `/registry/core/configmaps/default/${name}`, value: Buffer.from('{}') }]);
  const seen = await write('a');
  for (const name of ['b', 'c']) await cache.reached(await write(name));

  const kept = cache.remember(seen);
  for (const name of ['d', 'e']) await cache.reached(await write(name));
  store.give();
  await kept;

  expect(store.readings).toBe(1);
  expect(cache.floor).toBe(seen);
  cache.close();
});
