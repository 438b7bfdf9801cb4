import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedApi, type TestObject, testKind } from '../../../test/support/scripted-api.ts';
import { ApiError } from '../../api/errors.ts';
import { type LogFields, silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { type Controller, defineController, related } from './define.ts';
import { runControllers } from './loop.ts';
import {
  type Action,
  create,
  deleteCollection,
  event,
  eventContent,
  type Plan,
  remove,
  requeueAfter,
  requeueOnChange,
  update,
  updateStatus,
} from './plan.ts';

const Group = testKind<TestObject>('groups', 'Group', 'Namespaced');
const Member = testKind<TestObject>('members', 'Member', 'Namespaced');
const Zone = testKind<TestObject>('zones', 'Zone', 'Cluster');

let api: ScriptedApi;
let clock: ControlledClock;
let stop: AbortController;
let running: Promise<void>;
let warnings: LogFields[];

beforeEach(() => {
  api = new ScriptedApi();
  clock = new ControlledClock();
  stop = new AbortController();
  running = Promise.resolve();
  warnings = [];
});
afterEach(async () => {
  stop.abort();
  await running;
  expect(clock.waiting).toBe(0);
  expect(api.watching).toBe(0);
});

/** Starts the controller and lets it come to rest. */
async function start(controller: Controller, clientOf = (_account: string) => createClient(api)): Promise<void> {
  const client = createClient(api);
  const log = { ...silent, with: () => log, warn: (_: string, fields?: LogFields) => void warnings.push(fields ?? {}) };
  const common = { client, clock, random: systemRandom, log, signal: stop.signal };
  const informers = new InformerFactory(common);
  running = runControllers([controller], { ...common, clientOf, informers }).then(() => informers.stopped());
  await clock.advance(0);
}

type Definition = Parameters<typeof defineController<any, any>>[0];

const startTest = (definition: Partial<Definition> & Pick<Definition, 'plan'>) =>
  start(defineController<any, any>({ name: 'test', account: 'test-controller', watches: Group, ...definition }));

const group = (name: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Group',
  metadata: { name, namespace: 'x' },
  ...fields,
});

const member = (name: string, owner: string) => ({
  metadata: {
    name,
    namespace: 'x',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Group', name: owner, uid: 'u', controller: true }],
  },
});

/** A plan that only notes the names of the keys. */
const noting =
  (seen: string[]): Definition['plan'] =>
  (_, { key }) => {
    seen.push(key.name);
    return [];
  };

/** Keeps the number of members that the group requests. */
const planSize = (object: TestObject | undefined, world: { of: any }): Plan => {
  if (!object) return [];
  const present = world.of(Member).list('x') as TestObject[];
  const missing = object.spec.size - present.length;
  return [
    ...Array.from({ length: Math.max(0, missing) }, () =>
      create(Member, { metadata: { generateName: 'm-', namespace: 'x' } as any }),
    ),
    ...present.slice(0, Math.max(0, -missing)).map((each) => remove(Member, each as any)),
  ];
};

const sizes = () =>
  defineController<any>({
    name: 'size',
    account: 'test-controller',
    watches: Group,
    also: [related(Member, () => ['x/g'])],
    plan: planSize as any,
  });

const writes = () => api.requests.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));

describe('the loop', () => {
  it('plans for existing, changed and deleted objects', async () => {
    api.put('groups', group('a'));
    const seen: string[] = [];
    await startTest({
      plan: (object, { key }) => {
        seen.push(`${key.namespace}/${key.name} ${object ? object.spec : 'gone'}`);
        return [];
      },
    });
    api.put('groups', group('a', { spec: 2 }));
    await clock.advance(0);
    api.remove('groups', 'x', 'a');
    await clock.advance(0);
    expect(seen).toEqual(['x/a undefined', 'x/a 2', 'x/a gone']);
  });

  it('plans for the owner of what it owns, and for what is related', async () => {
    const seen: string[] = [];
    await startTest({
      owns: [Member],
      also: [
        related(Zone, (zone, { of }) =>
          of(Group)
            .list()
            .map(({ metadata }) => `x/${metadata.name}-${zone.spec}`),
        ),
      ],
      plan: noting(seen),
    });
    api.put('members', member('m', 'owner'));
    api.put('members', { metadata: { name: 'free', namespace: 'x' } });
    api.put('members', {
      metadata: { ...member('n', 'other').metadata, ownerReferences: [{ kind: 'Group', name: 'no' }] },
    });
    await clock.advance(0);
    expect(seen).toEqual(['owner']);
    api.put('members', member('m', 'next'));
    await clock.advance(0);
    expect(seen).toEqual(['owner', 'next', 'owner']);
    api.put('groups', group('a'));
    api.put('zones', { metadata: { name: 'z' }, spec: 'zone' });
    await clock.advance(0);
    expect(seen.slice(3)).toEqual(['a', 'a-zone']);
  });

  it('is not woken by new objects of a kind whose creation does not matter', async () => {
    const seen: string[] = [];
    await startTest({
      owns: [Member],
      ignoresNew: [Member],
      plan: noting(seen),
    });
    api.put('members', member('m', 'owner'));
    await clock.advance(0);
    expect(seen).toEqual([]);
    api.put('members', { ...member('m', 'owner'), spec: 2 });
    await clock.advance(0);
    api.remove('members', 'x', 'm');
    await clock.advance(0);
    expect(seen).toEqual(['owner', 'owner']);
  });

  it('performs its plan and then is idle', async () => {
    api.put('groups', group('g', { spec: { size: 20 } }));
    await start(sizes());
    expect(api.list('members')).toHaveLength(20);
    expect(writes()).toHaveLength(20);
    api.put('groups', group('g', { spec: { size: 3 } }));
    await clock.advance(0);
    expect(api.list('members')).toHaveLength(3);
    const before = api.requests.length;
    await clock.advance(3_600_000);
    expect(api.requests.length).toBe(before);
  });

  it('does nothing twice while the cache does not show its own writes', async () => {
    api.put('groups', group('g', { spec: { size: 5 } }));
    const release = api.hold();
    await start(sizes());
    api.put('groups', group('g', { spec: { size: 5 }, extra: 1 }));
    await clock.advance(1000);
    expect(api.list('members')).toHaveLength(5);
    release();
    await clock.advance(0);
    expect(api.list('members')).toHaveLength(5);

    const again = api.hold();
    api.put('groups', group('g', { spec: { size: 2 } }));
    again();
    await clock.advance(0);
    expect(api.list('members')).toHaveLength(2);
    expect(writes().filter(({ verb }) => verb === 'delete')).toHaveLength(3);
  });

  it('continues with a warning when its own writes never appear', async () => {
    let plans = 0;
    api.put('groups', group('g'));
    let silence: (() => void) | undefined;
    await startTest({
      plan: (object): Action[] => {
        plans++;
        if (plans > 1) return [];
        silence = api.hold();
        return [updateStatus(Group, { ...object, status: 1 }), requeueAfter(1)];
      },
    });
    await clock.advance(20_000);
    expect(plans).toBe(1);
    await clock.advance(20_000);
    expect(plans).toBe(2);
    expect(warnings).toEqual([{ key: 'x/g' }]);
    silence?.();
  });

  it('plans again at once after a conflict, from the newer state', async () => {
    api.put('groups', group('g', { spec: 1 }));
    const seen: unknown[] = [];
    await startTest({
      plan: (object: any) => {
        seen.push(object.spec);
        if (object.spec === 1) api.put('groups', group('g', { spec: 2 }));
        return object.label ? [] : [update(Group, { ...object, label: 'done' })];
      },
    });
    await clock.advance(100);
    expect(seen.slice(0, 2)).toEqual([1, 2]);
    expect(api.get('groups', 'x', 'g')).toMatchObject({ spec: 2, label: 'done' });
    expect(warnings).toEqual([]);
  });

  it('retries with back-off after other failures, and passes them to the next plan', async () => {
    api.put('groups', group('g', { spec: { size: 1 } }));
    const seen: string[][] = [];
    const at: number[] = [];
    api.reject(({ verb }) => (verb === 'create' ? new ApiError('InternalError', 'disk on fire') : undefined));
    await startTest({
      also: [related(Member, () => ['x/g'])],
      plan: (object: any, world) => {
        seen.push(world.failures.map(({ error }) => error.message));
        at.push(clock.now());
        return planSize(object, world);
      },
    });
    await clock.advance(10_000);
    expect(seen[0]).toEqual([]);
    expect(seen[1]).toEqual(['disk on fire']);
    expect(at.length).toBeLessThan(20);
    expect((at.at(-1) ?? 0) - (at.at(-2) ?? 0)).toBeGreaterThan(500);
    api.reject(undefined);
    await clock.advance(20_000);
    expect(api.list('members')).toHaveLength(1);
    expect(seen.at(-1)).toEqual([]);
    expect(warnings.length).toBeGreaterThan(0);
  });

  it('starts many creates slowly, so that few are tried when all would fail', async () => {
    api.put('groups', group('g', { spec: { size: 100 } }));
    let creates = 0;
    api.reject(({ verb }) => {
      if (verb !== 'create') return undefined;
      return ++creates > 3 ? new ApiError('Forbidden', 'quota') : undefined;
    });
    await start(sizes());
    expect(api.list('members')).toHaveLength(3);
    // 1 and 2 succeeded, 4 failed; each success allows one more try.
    expect(creates).toBe(8);
  });

  it('tries every collection, whatever fails', async () => {
    api.put('groups', group('g'));
    api.put('members', { metadata: { name: 'm', namespace: 'x' } });
    const seen: number[] = [];
    api.reject(({ verb, plural }) =>
      verb === 'deletecollection' && plural !== 'members' ? new ApiError('InternalError', `${plural} fail`) : undefined,
    );
    const Others = testKind('others', 'Other', 'Namespaced');
    const More = testKind('more', 'More', 'Namespaced');
    await startTest({
      plan: (_, { failures }) => {
        seen.push(failures.length);
        if (seen.length > 1) return [];
        return [Others, More, Member].map((kind) => deleteCollection(kind, 'x'));
      },
    });
    await clock.advance(100);
    expect(api.list('members')).toEqual([]);
    expect(seen).toEqual([0, 2]);
  });

  it('does not write an unchanged status', async () => {
    api.put('groups', group('g', { status: { ready: 1 } }));
    await startTest({
      plan: (object: any) => [updateStatus(Group, { ...object, status: { ready: object.spec ?? 1 } })],
    });
    expect(writes()).toEqual([]);
    api.put('groups', group('g', { spec: 5, status: { ready: 1 } }));
    await clock.advance(0);
    expect(writes()).toHaveLength(1);
    expect(api.get('groups', 'x', 'g')?.status).toEqual({ ready: 5 });
  });

  it('treats a missing object as deleted, and a create in a terminating namespace as done', async () => {
    api.put('groups', group('g'));
    const causes = [{ reason: 'NamespaceTerminating' }];
    const terminating = new ApiError('Forbidden', 'being terminated', { details: { causes } });
    api.reject(({ verb }) => (verb === 'create' ? terminating : undefined));
    let plans = 0;
    await startTest({
      plan: () => {
        plans++;
        return [
          remove(Member, { metadata: { name: 'none', namespace: 'x', uid: 'u' } }),
          create(Member, { metadata: { name: 'm', namespace: 'x' } as any }),
        ];
      },
    });
    await clock.advance(60_000);
    expect(plans).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('does not delete another object of the same name', async () => {
    const old = api.put('members', { metadata: { name: 'm', namespace: 'x' } });
    api.remove('members', 'x', 'm');
    api.put('members', { metadata: { name: 'm', namespace: 'x' } });
    api.put('groups', group('g'));
    await startTest({
      plan: (_, { failures }) => (failures.length > 0 ? [] : [remove(Member, old as any)]),
    });
    await clock.advance(100);
    expect(api.list('members')).toHaveLength(1);
  });

  it('a delay that is not a number is a failure, not a hot loop', async () => {
    api.put('groups', group('a'));
    let plans = 0;
    await startTest({
      plan: () => {
        plans++;
        return [requeueAfter(Number.NaN)];
      },
    });
    await clock.advance(60_000);
    expect(plans).toBeGreaterThan(5);
    expect(plans).toBeLessThan(20);
    expect(warnings[0]).toMatchObject({ key: 'x/a', errors: ['RangeError: the delay of x/a is not a number'] });
  });

  it('logs few of many errors, and of each its beginning', async () => {
    api.put('groups', group('a'));
    const errors = Array.from({ length: 3000 }, () => new Error('x'.repeat(100_000)));
    await startTest({
      plan: () => {
        throw new AggregateError(errors);
      },
    });
    expect(JSON.stringify(warnings[0]).length).toBeLessThan(20_000);
  });

  it('an exception while a change is turned into keys is logged, and other changes are handled', async () => {
    api.put('groups', group('a'));
    const seen: string[] = [];
    await startTest({
      also: [
        related(Member, () => {
          throw new Error('keys');
        }),
      ],
      plan: noting(seen),
    });
    api.put('members', member('m', 'a'));
    api.put('groups', group('b'));
    await clock.advance(0);
    expect(seen).toEqual(['a', 'b']);
  });

  it('plans again after requeueAfter', async () => {
    api.put('groups', group('g'));
    const at: number[] = [];
    const begun = clock.now();
    await startTest({
      plan: (_, __, now) => {
        at.push(now.getTime() - begun);
        return at.length < 3 ? [requeueAfter(10_000)] : [];
      },
    });
    await clock.advance(60_000);
    expect(at).toEqual([0, 10_000, 20_000]);
  });

  it('plans again after requeueOnChange', async () => {
    api.put('groups', group('g'));
    const from = String(api.revision);
    let plans = 0;
    await startTest({
      plan: () => {
        plans++;
        return [requeueOnChange(Member, 'x', plans === 1 ? from : String(api.revision))];
      },
    });
    api.put('members', { metadata: { name: 'm', namespace: 'elsewhere' } });
    await clock.advance(0);
    expect(plans).toBe(1);
    api.put('members', { metadata: { name: 'm', namespace: 'x' } });
    await clock.advance(0);
    expect(plans).toBe(2);
    expect(api.watching).toBe(2);
    // The next changes wake it together.
    for (let i = 0; i < 10; i++) {
      api.put('members', { metadata: { name: `m${i}`, namespace: 'x' } });
      await clock.advance(10);
    }
    expect(plans).toBe(2);
    await clock.advance(1000);
    expect(plans).toBe(3);
    api.disconnect(new ApiError('ServiceUnavailable', 'broken'));
    await clock.advance(10_000);
    expect(plans).toBe(4);
  });

  it('acts as its account, and waits for changes as the controller manager', async () => {
    api.put('groups', group('g'));
    const requests: string[] = [];
    const clientOf = (account: string) =>
      createClient({
        call: (request) => {
          requests.push(`${account} ${request.verb} ${request.plural}`);
          return api.call(request);
        },
        watch: (request) => {
          requests.push(`${account} ${request.verb} ${request.plural}`);
          return api.watch(request);
        },
      });
    const controller = defineController<any>({
      name: 'test',
      account: 'group-controller',
      watches: Group,
      observe: async (_, __, { client }) => void (await client.of(Member).in('x').list()),
      plan: (object) => [
        create(Member, { metadata: { generateName: 'm-', namespace: 'x' } } as any),
        event(object, 'Normal', 'Made', 'made'),
        requeueOnChange(Member, 'x', '1000'),
      ],
    });
    await start(controller, clientOf);
    await clock.advance(10);
    expect(requests.slice(0, 4)).toEqual([
      'group-controller list members',
      'group-controller create members',
      'group-controller create events',
      'kube-controller-manager watch members',
    ]);
  });

  it('observes before it plans, for the same state of the object', async () => {
    api.put('groups', group('g', { spec: 1 }));
    const seen: unknown[] = [];
    await startTest({
      observe: async (object: any, _, { client }) => {
        await client.of(Member).in('x').list();
        if (object.spec === 1) api.put('groups', group('g', { spec: 2 }));
        await new Promise((resolve) => setImmediate(resolve));
        return object.spec;
      },
      plan: (object: any, { observed }) => {
        seen.push([object.spec, observed]);
        return [];
      },
    });
    await clock.advance(10);
    expect(seen).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('survives a planner that throws', async () => {
    api.put('groups', group('g'));
    let plans = 0;
    await startTest({
      plan: () => {
        if (++plans === 1) throw new Error('bug');
        return [];
      },
    });
    await clock.advance(100);
    expect(plans).toBe(2);
    expect(warnings).toHaveLength(1);
  });

  it('stops while the server is away', async () => {
    api.reject(() => new ApiError('ServiceUnavailable', 'away'));
    await start(sizes());
    await clock.advance(5000);
    expect(warnings).not.toEqual([]);
    stop.abort();
    await expect(running).resolves.toBeUndefined();
  });
});

it('events are recorded once the outcome of an action is known, and in order', async () => {
  api.put('groups', group('g'));
  let plans = 0;
  await startTest({
    component: 'tester',
    plan: (object) => {
      if (plans++ > 0) return [];
      const report = {
        about: object as any,
        done: (name: string) => eventContent('Normal', 'Made', `made ${name}`),
        failed: (error: Error) => eventContent('Warning', 'Failed', error.message),
      };
      return [
        create(Member, { metadata: { name: 'one', namespace: 'x' } as any }, report),
        event(object as any, 'Normal', 'Between', 'between'),
        remove(Member, { metadata: { name: 'absent', namespace: 'x' } }, { report }),
        create(Member, { metadata: { name: 'one', namespace: 'x' } as any }, report),
        event(object as any, 'Normal', 'Never', 'never'),
      ];
    },
  });
  await clock.advance(10);
  const content = api.list('events').map(({ type, message, source }) => [type, message, source.component]);
  expect(content).toEqual([
    ['Normal', 'made one', 'tester'],
    ['Normal', 'between', 'tester'],
    ['Warning', expect.stringContaining('already exists'), 'tester'],
  ]);
});

it('performs a plan that is made in several turns, and ends with the loop', async () => {
  let turns = 0;
  api.put('groups', group('g', { spec: { size: 1 } }));
  await start(
    defineController<TestObject>({
      name: 'divided',
      account: 'divided',
      watches: Group,
      owns: [Member],
      *plan(object, world) {
        expect(world.pace.isSpent()).toBe(false);
        for (; turns < 5; turns++) yield;
        return planSize(object as TestObject, world);
      },
    }),
  );
  for (let turn = 0; turn < 20; turn++) await clock.advance(0);
  expect(turns).toBe(5);
  expect(api.list('members', 'x')).toHaveLength(1);
});
