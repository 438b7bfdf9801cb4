import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { createServer } from '../index.ts';
import { ownSince } from './release.ts';

const KEY = '/registry/core/services/default/a';

/** What today's release would have filled in is missing. */
const bare = Buffer.from('{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":{"clusterIP":"None"}}');

async function shown(store: MemoryStore, release: string | undefined): Promise<unknown> {
  const server = await createServer({ store, kinds: [Namespace, Service], clock: systemClock, release });
  const user = { name: 'admin', groups: [] };
  const call = { verb: 'get', apiVersion: 'v1', plural: 'services', namespace: 'default', name: 'a', user } as const;
  const reply = await server.handle(call);
  server.close();
  return reply.type === 'object' && JSON.parse(reply.item.json().toString()).spec.type;
}

describe('what is stored', () => {
  it('is shown as it is where this release wrote it, and with today’s defaults otherwise', async () => {
    const store = new MemoryStore({ clock: systemClock });
    await ownSince(store, 'one');
    await store.commit([{ key: KEY, value: bare }]);
    expect(await shown(store, undefined)).toBe('ClusterIP');
    expect(await shown(store, 'one')).toBeUndefined();
    expect(await shown(store, 'two')).toBe('ClusterIP');
    // Now somebody else may have written it.
    expect(await shown(store, 'one')).toBe('ClusterIP');
  });
});

describe('the revision from which on a release is alone', () => {
  it('stays as long as no other comes', async () => {
    const store = new MemoryStore({ clock: systemClock });
    const first = await ownSince(store, 'one');
    await store.commit([{ key: '/x', value: Buffer.from('1') }]);
    expect(await ownSince(store, 'one')).toBeLessThanOrEqual(first);
    const later = await ownSince(store, 'two');
    expect(later).toBeGreaterThan(first);
    expect(await ownSince(store, 'one')).toBeGreaterThan(later);
  });

  it('is found anew when the mark cannot be read', async () => {
    const store = new MemoryStore({ clock: systemClock });
    await store.commit([{ key: '/quarterdeck/release', value: Buffer.from('rubbish') }]);
    expect(await ownSince(store, 'one')).toBeGreaterThan(1);
  });
});
