import { expect, test } from 'vitest';
import { put } from '../../../test/support/store/contract.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { observeForeignWrites } from './foreign-writes.ts';

test('a store that nobody writes to is observed until it is written to', async () => {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  await put(store, '/a', 'before');
  const observing = observeForeignWrites(store, clock);
  await clock.advance(3_000);
  const writes = await observing;
  expect(() => writes.check()).not.toThrow();
  await put(store, '/registry/leases/a', 'renewed');
  expect(() => writes.check()).toThrow('another program has just written /registry/leases/a');
  writes.stop();
});

test('a store that a server uses is rejected', async () => {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const observing = expect(observeForeignWrites(store, clock)).rejects.toThrow('/registry/leases/a');
  await clock.advance(1_000);
  await put(store, '/registry/leases/a', 'renewed');
  await clock.advance(2_000);
  await observing;
});
