import { expect, it } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { commitMarkers } from './markers.ts';

it('writes only rows that are not objects', async () => {
  const store = new MemoryStore({ clock: new ControlledClock() });
  const value = Buffer.from('x');
  const revision = await commitMarkers(store, [{ key: '/quarterdeck/a', value }]);
  const object = { key: '/registry/core/pods/default/a', value };
  await expect(commitMarkers(store, [{ key: '/quarterdeck/b', value }, object])).rejects.toThrow('is not a marker');
  expect(store.revision()).toBe(revision);
});
