import { describe, expect, test } from 'vitest';
import { put, watching } from '../../../test/support/store/contract.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { Store } from '../store.ts';
import { MovableStore } from './movable-store.ts';

const clock = new ControlledClock();

/** A store, and another one with the same content. */
async function twins(count: number): Promise<{ movable: MovableStore; former: Store; next: Store }> {
  const [former, next] = [new MemoryStore({ clock }), new MemoryStore({ clock })];
  for (let i = 0; i < count; i++) for (const store of [former, next]) await put(store, '/a', `${i}`);
  return { movable: new MovableStore(former, clock), former, next };
}

describe('a store that another one takes the place of', () => {
  test('lets writes wait, and makes them on the other one', async () => {
    const { movable, former, next } = await twins(3);
    const before = await movable.revision();
    await movable.pause();
    const waiting = put(movable, '/b', 'late');
    movable.resume(next);
    expect(await waiting).toBe(before + 1);
    expect((await movable.get('/b'))?.value.toString()).toBe('late');
    expect(await former.get('/b')).toBeUndefined();
  });

  test('pauses when the writes in progress have ended', async () => {
    const order: string[] = [];
    let finish!: () => void;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { former } = await twins(1);
    const slow = Object.assign(Object.create(former) as Store, {
      commit: async (...args: Parameters<Store['commit']>) => {
        await held;
        return former.commit(...args);
      },
    });
    const movable = new MovableStore(slow, clock);
    const writing = put(movable, '/a', 'in progress').then(() => order.push('written'));
    const pausing = movable.pause().then(() => order.push('paused'));
    finish();
    await Promise.all([writing, pausing]);
    expect(order).toEqual(['written', 'paused']);
    movable.resume();
  });

  test('rejects a write that waits too long, and makes no use of it', async () => {
    const { movable } = await twins(1);
    await movable.pause();
    const waiting = expect(put(movable, '/b', 'never')).rejects.toMatchObject({ name: 'StorePaused' });
    await clock.advance(3_000);
    await waiting;
    movable.resume();
    expect(await movable.get('/b')).toBeUndefined();
    expect(await put(movable, '/b', 'again')).toBe((await movable.revision()) as number);
  });

  test('has watches that see each change once, whether they have read all of history or not', async () => {
    const { movable, former, next } = await twins(5);
    const all = watching(movable, 1);
    await all.through(await former.revision());
    // This one has read nothing when the store is replaced.
    const late = watching(movable, 2);
    await movable.pause();
    movable.resume(next);
    const last = await put(movable, '/a', 'new');
    await put(former, '/a', 'nobody is told');
    for (const watch of [all, late]) await watch.through(last);
    expect(all.changes.map(({ revision }) => revision)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(late.changes.map(({ revision }) => revision)).toEqual([3, 4, 5, 6, 7]);
    expect(all.changes.at(-1)?.value?.toString()).toBe('new');
  });
});
