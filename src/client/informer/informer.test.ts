import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fc, forAllAsync } from '../../../test/support/property-runs.ts';
import { ScriptedApi, type TestObject, testKind } from '../../../test/support/scripted-api.ts';
import { ApiError, tooOld } from '../../api/errors.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../client.ts';
import type { Informer } from './informer.ts';
import { InformerFactory } from './informer-factory.ts';
import { type Change, keyOf } from './object-cache.ts';

const Pod = testKind<TestObject>('pods', 'Pod', 'Namespaced');

function setUp(api = new ScriptedApi()) {
  const clock = new ControlledClock();
  const stop = new AbortController();
  const informers = new InformerFactory({
    client: createClient(api),
    clock,
    random: systemRandom,
    log: silent,
    signal: stop.signal,
  });
  return { api, clock, stop, informers };
}

const pod = (name: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  ...fields,
});

const broken = new ApiError('ServiceUnavailable', 'connection reset');

/** Tracks the changes that handlers receive, and fails when one does not follow from those before. */
function recorder(informer: Informer<TestObject>) {
  const log: string[] = [];
  const state = new Map<string, TestObject>();
  const leave = informer.onChange((change: Change<any>) => {
    const key = keyOf(change.object);
    log.push(`${change.type} ${change.object.metadata.name}`);
    const known = state.get(key);
    if (change.type === 'add') {
      if (known) throw new Error(`${key} was added twice`);
      state.set(key, change.object);
    } else {
      if (!known) throw new Error(`${key} is unknown`);
      if (known.metadata.uid !== change.object.metadata.uid) throw new Error(`${key} became another object`);
      if (change.type === 'update') {
        if (change.old !== known) throw new Error(`${key} was something else`);
        state.set(key, change.object);
      } else state.delete(key);
    }
  });
  return { log, state, leave };
}

/** Follows the pods until their first watch has begun. */
async function follow({ informers, clock }: ReturnType<typeof setUp>) {
  const informer = informers.of(Pod);
  const recorded = recorder(informer);
  await informer.synced;
  await clock.advance(0);
  return { informer, ...recorded };
}

const counts = (api: ScriptedApi) => ({
  lists: api.requests.filter(({ verb }) => verb === 'list').length,
  watches: api.requests.filter(({ verb }) => verb === 'watch').length,
});

describe('an informer', () => {
  let world: ReturnType<typeof setUp>;
  beforeEach(() => {
    world = setUp();
  });
  afterEach(async () => {
    world.stop.abort();
    await world.informers.stopped();
    expect(world.api.watching).toBe(0);
    expect(world.clock.waiting).toBe(0);
  });

  it('is synced after its first list, and then follows changes', async () => {
    const { api, clock, informers } = world;
    api.put('pods', pod('a'));
    const informer = informers.of(Pod);
    const { log } = recorder(informer);
    await informer.synced;
    expect(log).toEqual(['add a']);
    api.put('pods', pod('b'));
    api.put('pods', pod('a', { spec: 1 }));
    api.remove('pods', 'default', 'b');
    await clock.advance(0);
    expect(log).toEqual(['add a', 'add b', 'update a', 'delete b']);
    expect(informer.lister.get('a', 'default')).toBe(api.get('pods', 'default', 'a'));
    expect(informer.lister.get('b', 'default')).toBeUndefined();
  });

  it('calls a late handler with existing objects', async () => {
    const { api, informers } = world;
    api.put('pods', pod('a'));
    const informer = informers.of(Pod);
    await informer.synced;
    const { log, leave } = recorder(informer);
    expect(log).toEqual(['add a']);
    leave();
    api.put('pods', pod('b'));
    await informer.until((lister) => lister.get('b', 'default') !== undefined);
    expect(log).toEqual(['add a']);
  });

  it('is shared by all callers that select the same objects', async () => {
    const { api, clock, informers } = world;
    expect(informers.of(Pod)).toBe(informers.of(Pod));
    expect(informers.of(Pod, { namespace: 'x' })).not.toBe(informers.of(Pod));
    await clock.advance(0);
    expect(counts(api)).toEqual({ lists: 2, watches: 2 });
  });

  it('is idle while nothing changes', async () => {
    const { api, clock, informers } = world;
    await informers.of(Pod).synced;
    await clock.advance(3_600_000);
    expect(counts(api)).toEqual({ lists: 1, watches: 1 });
    expect(clock.waiting).toBe(0);
  });

  it('resumes after a disconnect from its last version, without a list', async () => {
    const { api, clock } = world;
    api.put('pods', pod('a'));
    const { log } = await follow(world);
    api.disconnect(broken);
    api.put('pods', pod('b'));
    api.remove('pods', 'default', 'a');
    await clock.advance(1000);
    expect(log).toEqual(['add a', 'add b', 'delete a']);
    expect(counts(api)).toEqual({ lists: 1, watches: 2 });
  });

  it('backs off while the server is away, and not after a watch that ended cleanly', async () => {
    const { api, clock } = world;
    await follow(world);
    api.disconnect();
    await clock.advance(0);
    expect(counts(api).watches).toBe(2);
    api.reject(() => broken);
    api.disconnect(broken);
    const tries: number[] = [];
    for (let second = 0; second < 120; second++) {
      await clock.advance(1000);
      tries.push(counts(api).watches);
    }
    expect(tries[9]).toBeLessThanOrEqual(10);
    expect((tries[119] ?? 0) - (tries[59] ?? 0)).toBeLessThanOrEqual(4);
    api.reject(undefined);
    await clock.advance(30_000);
    expect(api.watching).toBe(1);
  });

  it('tries every few seconds while no server can be reached', async () => {
    const { api, clock } = world;
    await follow(world);
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const unreached = new ApiError('ServiceUnavailable', 'cannot reach the server', { cause: refused });
    api.reject(() => unreached);
    api.disconnect(unreached);
    await clock.advance(120_000);
    for (let round = 0; round < 10; round++) {
      const before = counts(api).watches;
      await clock.advance(5_000);
      expect(counts(api).watches).toBeGreaterThan(before);
    }
    expect(counts(api).watches).toBeLessThan(80);
  });

  it('loses nothing when the connection breaks between changes of one version', async () => {
    const { api, clock } = world;
    const { log } = await follow(world);
    api.put('pods', pod('a'));
    await clock.advance(0);
    const release = api.hold();
    api.put('pods', pod('b'), { together: true });
    api.cut();
    release();
    await clock.advance(1000);
    expect(log).toEqual(['add a', 'add b']);
  });

  it.each([
    ['when the watch starts', (api: ScriptedApi) => api.compact()],
    ['inside the watch', (api: ScriptedApi) => api.failWatches(tooOld(1, 2))],
    ['as Gone', (api: ScriptedApi) => api.failWatches(new ApiError('Gone', 'history is gone'))],
  ])('lists again when history is lost %s, and reports the missed changes', async (_, lose) => {
    const { api, clock } = world;
    for (const name of ['kept', 'changed', 'deleted', 'recreated']) api.put('pods', pod(name));
    const { log, state } = await follow(world);
    log.length = 0;
    const release = api.hold();
    api.put('pods', pod('changed', { spec: 2 }));
    api.remove('pods', 'default', 'deleted');
    api.remove('pods', 'default', 'recreated');
    api.put('pods', pod('recreated'));
    api.put('pods', pod('new'));
    lose(api);
    api.cut();
    release();
    await clock.advance(1000);
    expect(log.sort()).toEqual(['add new', 'add recreated', 'delete deleted', 'delete recreated', 'update changed']);
    expect([...state.values()]).toEqual(expect.arrayContaining(api.list('pods')));
    expect(counts(api).lists).toBe(2);
  });

  it('does not list in a tight loop when every version is too old', async () => {
    const { api, clock, informers } = world;
    api.reject(({ verb }) => (verb === 'watch' ? tooOld(1, 2) : undefined));
    await informers.of(Pod).synced;
    await clock.advance(10_000);
    expect(counts(api).lists).toBeLessThanOrEqual(10);
  });

  it('lists again when the server’s versions have started over', async () => {
    const { api, clock } = world;
    for (const name of ['a', 'b', 'c']) api.put('pods', pod(name));
    const { log, state } = await follow(world);
    api.reset();
    api.put('pods', pod('b'));
    await clock.advance(60_000);
    expect([...state.keys()]).toEqual(['default/b']);
    expect(log.slice(3)).toEqual(['delete a', 'delete c', 'delete b', 'add b']);
  });

  it('handles a repeated ADDED', async () => {
    const { api, clock, informers } = world;
    api.put('pods', pod('a'));
    const informer = informers.of(Pod);
    const { log } = recorder(informer);
    await informer.synced;
    const release = api.hold();
    api.put('pods', pod('b'));
    const same = api.get('pods', 'default', 'b');
    release();
    await clock.advance(0);
    api.disconnect();
    await clock.advance(0);
    expect(api.requests.at(-1)?.options?.resourceVersion).toBe(String(Number(same?.metadata.resourceVersion) - 1));
    expect(log).toEqual(['add a', 'add b']);
  });

  it('resumes from a bookmark after compaction', async () => {
    const { api, clock } = world;
    await follow(world);
    api.put('services', { metadata: { name: 's' } });
    api.bookmark();
    await clock.advance(0);
    api.compact();
    api.disconnect();
    await clock.advance(1000);
    expect(counts(api)).toEqual({ lists: 1, watches: 2 });
  });

  it('lists page by page', async () => {
    const { api, informers } = world;
    for (let i = 0; i < 1201; i++) api.put('pods', pod(`p${i}`));
    const informer = informers.of(Pod);
    await informer.synced;
    expect(informer.lister.list()).toHaveLength(1201);
    expect(counts(api).lists).toBe(3);
  });

  it('waits for a version: by its own write, a bookmark, or a later list', async () => {
    const { api, clock, informers } = world;
    const informer = informers.of(Pod);
    await informer.synced;
    await clock.advance(0);
    const seen: string[] = [];
    const release = api.hold();
    const { resourceVersion } = api.put('pods', pod('a')).metadata;
    void informer.waitFor(resourceVersion).then(() => seen.push('write'));
    await clock.advance(0);
    expect(seen).toEqual([]);
    release();
    await clock.advance(0);
    expect(seen).toEqual(['write']);
    await informer.waitFor(resourceVersion);

    const other = api.put('services', { metadata: { name: 's' } }).metadata;
    void informer.waitFor(other.resourceVersion).then(() => seen.push('bookmark'));
    api.bookmark();
    await clock.advance(0);
    expect(seen).toEqual(['write', 'bookmark']);

    void informer.waitFor(1_000_000).then(() => seen.push('list'));
    api.reset();
    await clock.advance(10_000);
    expect(seen).toEqual(['write', 'bookmark', 'list']);
  });

  it('stops waiting when the signal is aborted', async () => {
    const { informers } = world;
    const patience = new AbortController();
    const waiting = informers.of(Pod).waitFor(99, patience.signal);
    patience.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(informers.of(Pod).waitFor(99, patience.signal)).rejects.toThrow('enough');
  });

  it('finds objects by namespace, owner or controller, orphans, and by any index', async () => {
    const { api, clock, informers } = world;
    const owned = (name: string, node: string) => ({
      metadata: {
        name,
        namespace: 'x',
        ownerReferences: [
          { uid: 'owner', kind: 'Application', name: 'a' },
          { uid: 'controller', kind: 'ReplicaSet', name: 'r', controller: true },
        ],
      },
      spec: { node },
    });
    const byNode = (object: any) => [object.spec.node as string];
    api.put('pods', owned('a', 'one'));
    api.put('pods', pod('c', { spec: { node: 'one' } }));
    const informer = informers.of(Pod);
    await informer.synced;
    api.put('pods', owned('b', 'two'));
    await clock.advance(0);
    const names = (objects: readonly { metadata: { readonly name: string } }[]) => objects.map((o) => o.metadata.name);
    expect(names(informer.lister.list('x'))).toEqual(['a', 'b']);
    expect(names(informer.lister.ownedBy('owner'))).toEqual(['a', 'b']);
    expect(names(informer.lister.controlledBy('controller'))).toEqual(['a', 'b']);
    expect(informer.lister.controlledBy('owner')).toEqual([]);
    expect(names(informer.lister.orphans('default'))).toEqual(['c']);
    expect(informer.lister.orphans('x')).toEqual([]);
    expect(names(informer.lister.by(byNode, 'one')).sort()).toEqual(['a', 'c']);
    api.put('pods', owned('a', 'two'));
    api.remove('pods', 'x', 'b');
    await clock.advance(0);
    expect(names(informer.lister.by(byNode, 'one'))).toEqual(['c']);
    expect(names(informer.lister.by(byNode, 'two'))).toEqual(['a']);
    expect(names(informer.lister.ownedBy('owner'))).toEqual(['a']);
    api.put('pods', { ...owned('a', 'two'), metadata: { name: 'a', namespace: 'x' } });
    await clock.advance(0);
    expect(informer.lister.controlledBy('controller')).toEqual([]);
    expect(names(informer.lister.orphans('x'))).toEqual(['a']);
  });

  it('continues when a handler throws', async () => {
    const { api, informers } = world;
    const informer = informers.of(Pod);
    informer.onChange(() => {
      throw new Error('bad handler');
    });
    const { log } = recorder(informer);
    api.put('pods', pod('a'));
    await informer.until((lister) => lister.list().length === 1);
    expect(log).toEqual(['add a']);
  });

  it('stops for a kind that is no longer served, and starts again on use', async () => {
    const { api, clock, informers } = world;
    const first = informers.of(Pod);
    await first.synced;
    await clock.advance(0);
    await informers.stop(Pod);
    expect(api.watching).toBe(0);
    expect(informers.of(Pod)).not.toBe(first);
    await informers.of(Pod).synced;
  });
});

type Step =
  | { do: 'put' | 'remove'; name: string }
  | { do: 'pair'; name: string; other: string }
  | { do: 'turn' | 'end' | 'break' | 'cut' | 'compact' | 'expire' | 'bookmark' | 'later' };

const name = fc.constantFrom('a', 'b', 'c', 'd');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('put', 'remove'), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pair'), name, other: name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('turn', 'end', 'break', 'cut', 'compact', 'expire', 'bookmark', 'later'),
    }),
  },
) as fc.Arbitrary<Step>;

describe('an informer under random changes and failures', () => {
  it('ends with the state of the server, and its handlers saw consistent changes', async () => {
    await forAllAsync({ numRuns: 150 }, fc.array(step, { maxLength: 60 }), async (steps) => {
      const { api, clock, stop } = setUp();
      const failures: unknown[] = [];
      const log = { ...silent, with: () => log, error: (_: string, fields?: object) => void failures.push(fields) };
      const client = createClient(api);
      const watched = new InformerFactory({ client, clock, random: systemRandom, log, signal: stop.signal });
      const informer = watched.of(Pod);
      const { state } = recorder(informer);
      for (const each of steps) await perform(api, clock, each);
      await clock.advance(120_000);
      expect(failures).toEqual([]);
      const expected = new Map(api.list('pods').map((object) => [keyOf(object), object]));
      expect(new Map(informer.lister.list().map((object) => [keyOf(object), object]))).toEqual(expected);
      expect(state).toEqual(expected);
      await informer.waitFor(api.list('pods').at(-1)?.metadata.resourceVersion ?? 0);
      stop.abort();
      await watched.stopped();
    });
  });
});

async function perform(api: ScriptedApi, clock: ControlledClock, each: Step): Promise<void> {
  switch (each.do) {
    case 'put':
      api.put('pods', pod(each.name));
      break;
    case 'pair':
      api.put('pods', pod(each.name));
      if (each.other !== each.name) api.put('pods', pod(each.other), { together: true });
      break;
    case 'remove':
      api.remove('pods', 'default', each.name);
      break;
    case 'turn':
      return clock.advance(0);
    case 'later':
      return clock.advance(5000);
    case 'end':
      api.disconnect();
      break;
    case 'break':
      api.disconnect(broken);
      break;
    case 'cut':
      api.cut();
      break;
    case 'compact':
      api.compact();
      break;
    case 'expire':
      api.failWatches(tooOld(1, 2));
      break;
    case 'bookmark':
      api.bookmark();
      break;
  }
}
