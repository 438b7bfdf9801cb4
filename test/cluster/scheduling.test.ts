/** The scheduler with the real server in one process, on a clock that stands still. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ControlledClock } from '../../src/base/time/clock.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { SCHEDULER } from '../../src/client/component-users.ts';
import { createEventRecorder } from '../../src/client/events/event-recorder.ts';
import { InformerFactory } from '../../src/client/informer/informer-factory.ts';
import { directTransport } from '../../src/client/transport/direct-transport.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../src/kinds/groups/policy/pod-disruption-budget.ts';
import { StorageClass } from '../../src/kinds/groups/storage/storage-class.ts';
import { SchedulerMetrics } from '../../src/scheduler/metrics.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import type { DirectCall, DirectHandle } from '../../src/server/serving/direct.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };

let clock: ControlledClock;
let server: Server;
let client: Client;
let metrics: SchedulerMetrics;
/** Looks at every call of the scheduler before the server does. */
let intercept: (call: DirectCall) => void;
let stopScheduler: () => Promise<void>;
let explain: Scheduler['explain'];
let stop: () => Promise<void>;

beforeEach(async () => {
  clock = new ControlledClock();
  intercept = () => {};
  const store = new MemoryStore({ clock });
  server = await createServer({
    ...{ store, kinds: allKinds, clock, freeze: true },
    ...{ authorization: ['RBAC'], defaultRoles: true },
    explainPod: (namespace, name) => explain(namespace, name),
  });
  client = createClient(directTransport(server.direct(ADMIN)));
  startScheduler();
  stop = async () => {
    await stopScheduler();
    server.close();
    await store.close();
  };
});

afterEach(() => stop());

function startScheduler(): void {
  const direct = server.direct(SCHEDULER);
  const handle: DirectHandle = async (call) => {
    intercept(call);
    return direct(call);
  };
  const ending = new AbortController();
  const own = createClient(directTransport(handle));
  const common = { client: own, clock, random: systemRandom, log: silent, signal: ending.signal };
  const informers = new InformerFactory(common);
  const recorder = createEventRecorder({ ...common, component: 'default-scheduler' });
  metrics = new SchedulerMetrics();
  const scheduler = new Scheduler({ ...common, metrics, informers, recorder });
  explain = (namespace, name) => scheduler.explain(namespace, name);
  const running = scheduler.run();
  stopScheduler = async () => {
    ending.abort();
    await running;
    await informers.stopped();
  };
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await clock.advance(0);
}

async function addNode(name: string, cpu = '4', rest: { labels?: object; spec?: object } = {}): Promise<void> {
  const amounts = { cpu, memory: '8Gi', pods: '110' };
  const labels = { 'kubernetes.io/hostname': name, ...rest.labels };
  const status = { capacity: amounts, allocatable: amounts };
  await client.of(Node).create({ metadata: { name, labels }, spec: rest.spec ?? {}, status } as never);
}

async function addPod(name: string, cpu = '1', spec: object = {}, labels: object = {}): Promise<void> {
  const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }];
  await client
    .of(Pod)
    .create({ metadata: { name, namespace: 'default', labels }, spec: { containers, ...spec } } as never);
}

const pods = () => client.of(Pod).in('default');
const nodeOf = async (name: string) => (await pods().get(name)).spec.nodeName;
const conditionOf = async (name: string, type = 'PodScheduled') =>
  (await pods().get(name)).status.conditions?.find((each) => each.type === type);

async function eventsOf(name: string): Promise<string[]> {
  await settled();
  const { items } = await client.of(Event).in('default').list();
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

it('measures attempts and the pods that wait', async () => {
  const said = () => [...metrics.lines()].join('\n');
  await addNode('node-1', '2');
  await addPod('fits');
  await addPod('large', '8');
  await addPod('gated', '1', { schedulingGates: [{ name: 'example.com/wait' }] });
  await settled();
  const attempts = (result: string) =>
    `scheduler_schedule_attempts_total{profile="default-scheduler",result="${result}"}`;
  expect(said()).toContain(`${attempts('scheduled')} 1`);
  expect(said()).toContain(`${attempts('unschedulable')} 1`);
  expect(said()).toContain(`${attempts('error')} 0`);
  expect(said()).toContain('scheduler_pending_pods{queue="active"} 0');
  expect(said()).toContain('scheduler_pending_pods{queue="unschedulable"} 1');
  expect(said()).toContain('scheduler_pending_pods{queue="gated"} 1');
  await addPod('important', '2', { priority: 1000 });
  await settled();
  expect(said()).toContain('scheduler_preemption_victims_sum 1');
});

describe('a pod', () => {
  it('gets a node, with an event and a condition', async () => {
    await addNode('node-1');
    await addPod('web');
    await settled();
    expect(await nodeOf('web')).toBe('node-1');
    expect(await conditionOf('web')).toMatchObject({ status: 'True' });
    expect(await eventsOf('web')).toEqual(['Normal Scheduled Successfully assigned default/web to node-1']);
  });

  it('of another scheduler, or with a node already, is ignored', async () => {
    await addNode('node-1');
    await addPod('theirs', '1', { schedulerName: 'other' });
    await addPod('placed', '1', { nodeName: 'elsewhere' });
    await clock.advance(60_000);
    expect(await nodeOf('theirs')).toBeUndefined();
    expect(await nodeOf('placed')).toBe('elsewhere');
    expect([...(await eventsOf('theirs')), ...(await eventsOf('placed'))]).toEqual([]);
  });

  it('that does not fit has the reason, and gets a node as soon as there is one', async () => {
    await addNode('small', '1');
    await addNode('tainted', '4', { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } });
    await addPod('web', '2');
    await settled();
    const message =
      '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). ' +
      'no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';
    const waiting = { status: 'False', reason: 'Unschedulable', message, observedGeneration: 1 };
    expect(await conditionOf('web')).toMatchObject(waiting);
    expect(await eventsOf('web')).toEqual([`Warning FailedScheduling ${message}`]);
    await clock.advance(60_000);
    await addNode('large', '4');
    await settled();
    expect(await nodeOf('web')).toBe('large');
  });

  it('waits for the first node of all', async () => {
    await addPod('web');
    expect(await eventsOf('web')).toEqual(['Warning FailedScheduling no nodes available to schedule pods']);
    await clock.advance(1_000);
    await addNode('node-1');
    await settled();
    expect(await nodeOf('web')).toBe('node-1');
  });

  it('that still does not fit after a restart of the scheduler is not written again', async () => {
    await addNode('small', '1');
    await addPod('web', '2');
    await addPod('other', '2');
    const before = [await eventsOf('web'), await eventsOf('other')];
    const writes: string[] = [];
    await stopScheduler();
    intercept = ({ verb, plural }) => {
      if (!['get', 'list', 'watch'].includes(verb)) writes.push(`${verb} ${plural}`);
    };
    startScheduler();
    expect([await eventsOf('web'), await eventsOf('other')]).toEqual(before);
    expect(before.flat()).toHaveLength(2);
    expect(writes).toEqual([]);
    await clock.advance(300_000);
    await settled();
    expect(writes, 'when it is tried again, it says so').toEqual(['create events', 'create events']);
  });

  it('with a gate waits until it is gone', async () => {
    await addNode('node-1');
    await addPod('web', '1', { schedulingGates: [{ name: 'x.io/hold' }] });
    await clock.advance(60_000);
    expect(await nodeOf('web')).toBeUndefined();
    expect(await conditionOf('web')).toMatchObject({ status: 'False', reason: 'SchedulingGated' });
    await pods().patch('web', { type: 'json', operations: [{ op: 'remove', path: '/spec/schedulingGates' }] });
    await settled();
    expect(await nodeOf('web')).toBe('node-1');
  });

  it('is not retried before an event that may help, nor before its back-off ends', async () => {
    const written: string[] = [];
    intercept = ({ verb, subresource }) => void (subresource && written.push(`${verb} ${subresource}`));
    await addNode('node-1', '1');
    await addPod('first');
    await addPod('second');
    await settled();
    expect(written.sort()).toEqual(['create binding', 'patch status']);
    await clock.advance(60_000);
    expect(written).toHaveLength(2);
    await pods().delete('first', { gracePeriodSeconds: 0 });
    await settled();
    expect(await nodeOf('second')).toBe('node-1');
  });

  it('backs off when it fails again and again', async () => {
    await addNode('node-1', '1');
    await addPod('web', '2');
    await settled();
    const taint = (value: string) => ({ spec: { taints: [{ key: 'x', value, effect: 'PreferNoSchedule' }] } });
    const attempts = async () => ((await pods().subresource('web', 'explain').get()) as any).queue.attempts;
    expect(await attempts()).toBe(1);
    await client.of(Node).patchStatus('node-1', { type: 'merge', changes: { status: { allocatable: { cpu: '3' } } } });
    await addPod('quick', '2');
    await settled();
    // It backs off, and the other was quicker.
    expect(await nodeOf('quick')).toBe('node-1');
    await clock.advance(999);
    expect(await attempts()).toBe(1);
    await clock.advance(1);
    expect(await attempts()).toBe(2);
    await client.of(Node).patch('node-1', { type: 'merge', changes: taint('a') });
    await settled();
    expect(await attempts()).toBe(2);
  });
});

describe('bindings', () => {
  it('never overcommit a node, though many are in progress at once', async () => {
    for (let index = 0; index < 5; index++) await addNode(`node-${index}`, '4');
    await Promise.all(Array.from({ length: 30 }, (_, index) => addPod(`pod-${index}`, '1')));
    await settled();
    const { items } = await pods().list();
    const counts = new Map<string, number>();
    for (const { spec } of items) if (spec.nodeName) counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1);
    expect([...counts.values()]).toEqual([4, 4, 4, 4, 4]);
  });

  it('that fail free the resources, and are retried', async () => {
    await addNode('node-1', '1');
    let failures = 1;
    intercept = ({ subresource }) => {
      if (subresource === 'binding' && failures-- > 0) throw new ApiError('InternalError', 'the disk is on fire');
    };
    await addPod('web');
    await settled();
    expect(await nodeOf('web')).toBeUndefined();
    expect(await conditionOf('web')).toMatchObject({ reason: 'SchedulerError' });
    expect(await eventsOf('web')).toEqual([
      'Warning FailedScheduling running Bind plugin "DefaultBinder": the disk is on fire',
    ]);
    await addPod('other');
    await settled();
    expect(await nodeOf('other')).toBe('node-1');
    await pods().delete('other', { gracePeriodSeconds: 0 });
    await clock.advance(1_000);
    expect(await nodeOf('web')).toBe('node-1');
  });

  it('of a pod that is deleted meanwhile leave nothing behind', async () => {
    await addNode('node-1', '1');
    let gone: Promise<void> | undefined;
    intercept = ({ subresource, name }) => {
      if (subresource === 'binding' && name === 'web') gone = pods().delete('web');
    };
    await addPod('web');
    await settled();
    await gone;
    await addPod('other');
    await settled();
    await clock.advance(1_000);
    const there = (await pods().list()).items.map(({ metadata, spec }) => [metadata.name, spec.nodeName]);
    expect(there.filter(([name]) => name === 'other')).toEqual([['other', 'node-1']]);
  });
});

describe('a pod of a higher priority', () => {
  const important = { priority: 100 };

  it('preempts pods of lower priority, and takes their node when they are gone', async () => {
    await addNode('node-1', '2');
    await addPod('low', '2', { terminationGracePeriodSeconds: 30 });
    await settled();
    await addPod('high', '2', important);
    await settled();
    const uid = (await pods().get('high')).metadata.uid;
    expect((await pods().get('high')).status.nominatedNodeName).toBe('node-1');
    expect((await pods().get('low')).metadata.deletionTimestamp).toBeDefined();
    expect(await conditionOf('low', 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
    });
    expect(await eventsOf('low')).toContain(`Normal Preempted Preempted by pod ${uid} on node node-1`);
    expect(await eventsOf('high')).toEqual(['Warning FailedScheduling 0/1 nodes are available: 1 Insufficient cpu.']);
    await pods().delete('low', { gracePeriodSeconds: 0 });
    await addPod('thief', '2');
    await clock.advance(1_000);
    expect(await nodeOf('high')).toBe('node-1');
    expect(await nodeOf('thief')).toBeUndefined();
  });

  it('does not preempt with the policy Never', async () => {
    await addNode('node-1', '2');
    await addPod('low', '2');
    await settled();
    await addPod('high', '2', { ...important, preemptionPolicy: 'Never' });
    await settled();
    expect((await pods().get('low')).metadata.deletionTimestamp).toBeUndefined();
    expect((await conditionOf('high'))?.message).toContain('preemption: not eligible due to preemptionPolicy=Never.');
  });

  it('spares those that a disruption budget protects', async () => {
    const guarded = {
      metadata: { name: 'guard', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'db' } } },
    };
    await client.of(PodDisruptionBudget).create(guarded);
    await addNode('node-1', '2');
    await addPod('guarded', '1', {}, { app: 'db' });
    await addPod('free', '1', { priority: 1 });
    await settled();
    await addPod('high', '1', important);
    await settled();
    expect((await pods().get('guarded')).metadata.deletionTimestamp).toBeUndefined();
    expect((await pods().get('free')).metadata.deletionTimestamp).toBeDefined();
  });
});

describe('nodes', () => {
  it('that shrink, change or are deleted are seen at once', async () => {
    await addNode('node-1');
    await addNode('node-2');
    await client.of(Node).patch('node-1', { type: 'merge', changes: { spec: { unschedulable: true } } });
    await addPod('one');
    await settled();
    expect(await nodeOf('one')).toBe('node-2');
    await client.of(Node).delete('node-2');
    await addPod('two');
    await settled();
    expect(await nodeOf('two')).toBeUndefined();
    await client.of(Node).patch('node-1', { type: 'merge', changes: { spec: { unschedulable: null } } });
    await clock.advance(1_000);
    expect(await nodeOf('two')).toBe('node-1');
  });
});

describe('a claim that waits for its first consumer', () => {
  it('gets the selected node, and the pod is bound when its volume is bound', async () => {
    await addNode('node-1');
    await client.of(StorageClass).create({
      metadata: { name: 'slow' },
      provisioner: 'example.com/disk',
      volumeBindingMode: 'WaitForFirstConsumer',
    } as never);
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      resources: { requests: { storage: '1Gi' } },
    };
    const claims = client.of(PersistentVolumeClaim).in('default');
    await claims.create({ metadata: { name: 'data' }, spec } as never);
    await addPod('web', '1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
    await settled();
    const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' };
    expect((await claims.get('data')).metadata.annotations).toMatchObject(annotations);
    expect(await nodeOf('web')).toBeUndefined();
    await client.of(PersistentVolume).create({
      metadata: { name: 'made' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    } as never);
    const bound = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
    await claims.patch('data', { type: 'merge', changes: { metadata: bound, spec: { volumeName: 'made' } } });
    await settled();
    expect(await nodeOf('web')).toBe('node-1');
  });

  it('that is not bound in time lets the pod be retried', async () => {
    await addNode('node-1');
    const volumeBindingMode = 'WaitForFirstConsumer';
    await client
      .of(StorageClass)
      .create({ metadata: { name: 'slow' }, provisioner: 'x.io/y', volumeBindingMode } as never);
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      resources: { requests: { storage: '1Gi' } },
    };
    await client
      .of(PersistentVolumeClaim)
      .in('default')
      .create({ metadata: { name: 'data' }, spec } as never);
    await addPod('web', '1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
    await clock.advance(599_000);
    expect(await conditionOf('web')).toBeUndefined();
    await clock.advance(1_000);
    await settled();
    expect((await conditionOf('web'))?.message).toBe(
      'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    );
  });

  describe('with a selected node', () => {
    const claims = () => client.of(PersistentVolumeClaim).in('default');
    const volumes = () => client.of(PersistentVolume);
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      resources: { requests: { storage: '1Gi' } },
    };
    const on = (node: string) => {
      const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }];
      return { required: { nodeSelectorTerms: [{ matchExpressions }] } };
    };
    const volume = async (name: string, fields: object = {}) => {
      const { storageClassName, accessModes } = spec;
      const local = { local: { path: '/x' }, capacity: { storage: '1Gi' }, nodeAffinity: on('node-1') };
      await volumes().create({
        metadata: { name },
        spec: { storageClassName, accessModes, ...local, ...fields },
      } as never);
      await volumes().updateStatus({ ...(await volumes().get(name)), status: { phase: 'Available' } } as never);
    };
    const merge = (changes: object) => ({ type: 'merge', changes }) as const;
    const bindTo = (volumeName: string) => {
      const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
      return claims().patch('data', merge({ metadata: { annotations }, spec: { volumeName } }));
    };
    const message = async () => (await conditionOf('web'))?.message;
    const begin = async () => {
      const volumeBindingMode = 'WaitForFirstConsumer';
      const metadata = { name: 'slow' };
      await client.of(StorageClass).create({ metadata, provisioner: 'x.io/y', volumeBindingMode } as never);
      await claims().create({ metadata: { name: 'data' }, spec } as never);
      await addPod('web', '1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
      await settled();
    };
    const PRE = 'running PreBind plugin "VolumeBinding": binding volumes:';

    beforeEach(() => addNode('node-1'));

    it('gets the existing volume', async () => {
      await volume('disk');
      await begin();
      const { metadata, spec: now } = await volumes().get('disk');
      expect(now.claimRef).toMatchObject({ name: 'data', uid: (await claims().get('data')).metadata.uid });
      expect(metadata.annotations).toEqual({ 'pv.kubernetes.io/bound-by-controller': 'yes' });
      expect(await nodeOf('web')).toBeUndefined();
      await bindTo('disk');
      await settled();
      expect(await nodeOf('web')).toBe('node-1');
    });

    it('is retried when that volume is lost', async () => {
      await volume('disk');
      await begin();
      await volumes().patch('disk', merge({ spec: { claimRef: null } }));
      await settled();
      expect(await message()).toBe(`${PRE} ClaimRef got reset for pv "disk"`);
    });

    it('is retried when its provisioner resets it', async () => {
      await begin();
      await claims().patch(
        'data',
        merge({ metadata: { annotations: { 'volume.kubernetes.io/selected-node': null } } }),
      );
      await settled();
      expect(await message()).toBe(`${PRE} provisioning failed for PVC "data"`);
    });

    it('is retried when its volume is provisioned elsewhere', async () => {
      await begin();
      await volume('elsewhere', { nodeAffinity: on('node-2') });
      await bindTo('elsewhere');
      await settled();
      expect(await message()).toBe(
        `${PRE} pv "elsewhere" node affinity doesn't match node "node-1": no matching NodeSelectorTerms`,
      );
    });

    it('is free for another node when its pod is gone', async () => {
      await begin();
      await addNode('node-2');
      await pods().delete('web');
      await claims().patch(
        'data',
        merge({ metadata: { annotations: { 'volume.kubernetes.io/selected-node': null } } }),
      );
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
      await addPod('other', '1', { volumes, nodeSelector: { 'kubernetes.io/hostname': 'node-2' } });
      await settled();
      const annotations = { 'volume.kubernetes.io/selected-node': 'node-2' };
      expect((await claims().get('data')).metadata.annotations).toEqual(annotations);
    });
  });
});

describe('an explanation', () => {
  it('has the verdict of every filter on every node, for waiting and running pods', async () => {
    await addNode('node-1', '4');
    await addNode('node-2', '1');
    await addPod('web', '2');
    await settled();
    const said = (await pods().subresource('web', 'explain').get()) as any;
    expect(said).toMatchObject({ kind: 'PodExplanation', nodeName: 'node-1', message: '1/2 nodes fit' });
    expect(said.nodes.map(({ name, fits }: any) => [name, fits])).toEqual([
      ['node-1', true],
      ['node-2', false],
    ]);
    expect(said.nodes[0].scores.map(({ plugin }: any) => plugin)).toContain('NodeResourcesFit');
    const rejected = said.nodes[1].filters.find(({ result }: any) => result === 'Rejected');
    expect(rejected).toEqual({
      plugin: 'NodeResourcesFit',
      result: 'Rejected',
      reasons: ['Insufficient cpu'],
      details: ['requests 2 CPUs, 1 of 1 free'],
      curable: false,
    });
    await addPod('huge', '9');
    await settled();
    expect(await pods().subresource('huge', 'explain').get()).toMatchObject({
      message: '0/2 nodes fit',
      queue: { state: 'unschedulable', attempts: 1, rejectedBy: ['NodeResourcesFit'] },
    });
  });

  it('does not exist for a pod that does not exist', async () => {
    await expect(pods().subresource('none', 'explain').get()).rejects.toMatchObject({ reason: 'NotFound' });
  });
});
