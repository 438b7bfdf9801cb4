import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import type { User } from '../../../api/user.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';
import { Memo } from '../request-memos.ts';
import type { FlowControl, FlowControlRequest, Seat } from './flow-control.ts';
import { MaxInFlight } from './max-in-flight.ts';

const FLOWCONTROL = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', namespace: '' };
const user = (name: string, ...groups: string[]): User => ({ name, groups: [...groups, 'system:authenticated'] });
const joe = user('joe');
const account = user('system:serviceaccount:kube-system:x', 'system:serviceaccounts');

const about = (who: User, more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
  ...{ user: who, verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'n', name: 'a' },
  ...more,
});

const request = (attributes: Attributes, more: Partial<FlowControlRequest> = {}): FlowControlRequest => ({
  ...{ attributes, memo: undefined, kind: undefined, options: {}, client: { isDisconnected: false } },
  ...more,
});

let clock: ControlledClock;
let world: TestServer;
let flowControl: FlowControl;

async function start(reading = 400, mutating = 200): Promise<void> {
  clock = new ControlledClock();
  const settings = { priorityAndFairness: true, maxReading: reading, maxMutating: mutating, requestTimeoutMs: 60_000 };
  world = await testServer([Namespace, FlowSchema, PriorityLevelConfiguration], { clock, flowControl: settings });
  flowControl = world.server.flowControl!;
}

async function uidOf(plural: string, name: string): Promise<string> {
  return (await world.get(plural, name, FLOWCONTROL)).metadata.uid;
}

/** Returns the schema and the priority level that a request was assigned to. */
async function assigned(attributes: Attributes): Promise<string> {
  const seat = await flowControl.admit(request(attributes));
  const [, schema, , level] = seat.headers;
  seat.release();
  const schemas = await world.list('flowschemas', FLOWCONTROL);
  const levels = await world.list('prioritylevelconfigurations', FLOWCONTROL);
  const nameOf = (list: typeof schemas, uid: string | undefined) =>
    list.items.find(({ object }) => object.metadata.uid === uid)?.object.metadata.name;
  return `${nameOf(schemas, schema)} ${nameOf(levels, level)}`;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function admitMany(who: User, count: number, more: Partial<ResourceAttributes> = {}) {
  const seats: Seat[] = [];
  const refused: unknown[] = [];
  for (let i = 0; i < count; i++) {
    try {
      const seat = flowControl.admit(request(about(who, more)));
      if (!(seat instanceof Promise)) seats.push(seat);
      else
        seat.then(
          (found) => void seats.push(found),
          (error: unknown) => void refused.push(error),
        );
    } catch (error) {
      refused.push(error);
    }
  }
  for (let i = 0; i < count; i++) await turn();
  return { seats, refused };
}

const metric = (name: string) =>
  [...flowControl.lines()].filter((line) => line.startsWith(`apiserver_flowcontrol_${name}`));

beforeEach(() => start());

it.each<[string, Attributes, string]>([
  ['of an administrator', about(user('root', 'system:masters')), 'exempt exempt'],
  ['for health', { user: joe, verb: 'get', path: '/readyz' }, 'probes exempt'],
  ['for a single check', { user: joe, verb: 'get', path: '/readyz/etcd' }, 'probes exempt'],
  ['of a user', about(joe), 'global-default global-default'],
  ['of a user, to a path', { user: joe, verb: 'get', path: '/version' }, 'global-default global-default'],
  [
    'of an account',
    about(user('system:serviceaccount:a:b', 'system:serviceaccounts')),
    'service-accounts workload-low',
  ],
  ['of an account of the system', about(account), 'kube-system-service-accounts workload-high'],
  [
    'of an account of the system, for a lease',
    about(account, { verb: 'update', group: 'coordination.k8s.io', resource: 'leases' }),
    'system-leader-election leader-election',
  ],
  ['of a node', about(user('system:node:a', 'system:nodes')), 'system-nodes system'],
  [
    'of a node, for itself',
    about(user('system:node:a', 'system:nodes'), { resource: 'nodes', subresource: 'status', namespace: '' }),
    'system-node-high node-high',
  ],
  ['of the scheduler', about(user('system:kube-scheduler')), 'kube-scheduler workload-high'],
  ['of a user without groups', about({ name: 'x', groups: [] }), 'catch-all catch-all'],
])('a request %s is assigned to its priority level', async (_what, attributes, where) => {
  expect(await assigned(attributes)).toBe(where);
});

it('a request is assigned to a schema that was just created, whatever was cached', async () => {
  const memo = new Memo();
  const seat = await flowControl.admit(request(about(joe), { memo }));
  seat.release();
  await world.create(
    'flowschemas',
    {
      metadata: { name: 'joes' },
      spec: {
        matchingPrecedence: 50,
        priorityLevelConfiguration: { name: 'system' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'joe' } }],
            resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'] }],
          },
        ],
      },
    },
    FLOWCONTROL,
  );
  const uid = await uidOf('flowschemas', 'joes');
  const now = await flowControl.admit(request(about(joe), { memo }));
  expect(now.headers).toContain(uid);
  now.release();
  // The same sort of request in another namespace does not match.
  const elsewhere = await flowControl.admit(request(about(joe, { namespace: 'm' }), { memo }));
  expect(elsewhere.headers).not.toContain(uid);
  elsewhere.release();
});

describe('when seats run out', () => {
  it('requests queue, and each flow gets its share of freed seats', async () => {
    await start(24, 0); // global-default has 2 nominal seats.
    await world.patch(
      'prioritylevelconfigurations',
      'global-default',
      { spec: { limited: { borrowingLimitPercent: 0 } } },
      { ...FLOWCONTROL, patchType: 'merge' },
    );
    const flood = await admitMany(user('flood'), 40);
    expect(flood.seats).toHaveLength(2);
    const other = await admitMany(user('other'), 1);
    expect(other.seats).toHaveLength(0);
    expect(metric('current_inqueue_requests{priority_level="global-default"}')).toEqual([
      expect.stringMatching(/ 39$/),
    ]);
    // The other request waits for no more of the flood than its queue's virtual start requires.
    flood.seats[0]!.release();
    await turn();
    flood.seats[1]!.release();
    await turn();
    expect(other.seats).toHaveLength(1);
  });

  it('requests without space in a queue get 429 with Retry-After', async () => {
    await start(24, 0);
    const { refused } = await admitMany(user('flood'), 400);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({
      reason: 'TooManyRequests',
      message: 'too many requests, please try again later',
      details: { retryAfterSeconds: 1 },
    });
    expect(metric('rejected_requests_total')[0]).toContain('reason="queue-full"');
  });

  it('a level without queues rejects at once', async () => {
    await start(24, 0);
    const { seats, refused } = await admitMany({ name: 'x', groups: [] }, 60);
    expect(seats.length).toBeGreaterThan(0);
    expect(seats.length + refused.length).toBe(60);
    expect(metric('rejected_requests_total')[0]).toContain('reason="concurrency-limit"');
  });

  it('no request waits longer than a quarter of the request timeout', async () => {
    await start(24, 0);
    const flood = await admitMany(user('flood'), 60);
    const waiting = 60 - flood.seats.length;
    await clock.advance(14_000);
    expect(flood.refused).toHaveLength(0);
    await clock.advance(1_000);
    expect(flood.refused).toHaveLength(waiting);
    expect(clock.waiting).toBe(0);
  });

  it('a level borrows seats that others do not use', async () => {
    await start(240, 0); // global-default has 20 nominal seats and lends 10.
    const { seats } = await admitMany(user('busy'), 60);
    expect(seats).toHaveLength(60);
  });

  it('a request that waits for its client holds no seat', async () => {
    await start(24, 0);
    const flood = await admitMany(user('flood'), 20);
    const had = flood.seats.length;
    for (const seat of [...flood.seats]) seat.pause();
    await turn();
    expect(flood.seats.length).toBe(Math.min(20, had * 2));
  });

  it('an administrator never waits', async () => {
    await start(1, 0);
    const { seats } = await admitMany(user('root', 'system:masters'), 500);
    expect(seats).toHaveLength(500);
  });
});

it('a list of many objects takes more seats than one object', async () => {
  await start(4_000, 0);
  const kind = FlowSchema;
  for (let i = 0; i < 120; i++) {
    const rule = {
      subjects: [{ kind: 'User', user: { name: 'x' } }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    };
    const spec = { priorityLevelConfiguration: { name: 'system' }, rules: [rule] };
    await world.create('flowschemas', { metadata: { name: `schema-${i}` }, spec }, FLOWCONTROL);
  }
  const list = about(joe, {
    verb: 'list',
    name: '',
    resource: 'flowschemas',
    group: 'flowcontrol.apiserver.k8s.io',
    namespace: '',
  });
  const executing = () => Number(metric('current_executing_seats{priority_level="global-default"}')[0]!.split(' ')[1]);
  const seat = await flowControl.admit(request(list, { kind }));
  expect(executing()).toBe(2);
  seat.release();
  expect(executing()).toBe(0);
  const page = await flowControl.admit(request(list, { kind, options: { limit: 10 } }));
  expect(executing()).toBe(1);
  page.release();
});

it('unauthenticated clients of one address wait for each other, not for those of another', async () => {
  const first = Array.from({ length: 500 }, () => flowControl.delayUnauthenticated('1.1.1.1', 1));
  expect(first.filter((waiting) => waiting !== undefined).length).toBeGreaterThan(300);
  expect(flowControl.delayUnauthenticated('2.2.2.2', 1)).toBeUndefined();
  await Promise.all(first);
});

it('unauthenticated clients overload the server when very many from one network wait', async () => {
  const waiting = Array.from({ length: 1500 }, (_, i) =>
    flowControl.delayUnauthenticated(`2001:db8::${i.toString(16)}`, 1),
  );
  expect(flowControl.isOverloadedBy('2001:db8::ffff:1')).toBe(true);
  expect(flowControl.isOverloadedBy('2001:db8:0:1::1')).toBe(false);
  await Promise.all(waiting);
  expect(flowControl.isOverloadedBy('2001:db8::1')).toBe(false);
});

it('without priority and fairness concurrent reads and writes are limited, except for administrators', () => {
  const limit = new MaxInFlight({ maxReading: 2, maxMutating: 1 });
  const read = () => limit.admit(request(about(joe)));
  const [one] = [read(), read()];
  expect(read).toThrow('too many requests');
  limit.admit(request(about(joe, { verb: 'create' })));
  expect(() => limit.admit(request(about(joe, { verb: 'patch' })))).toThrow('too many requests');
  limit.admit(request(about(user('root', 'system:masters'))));
  one!.release();
  read();
});
