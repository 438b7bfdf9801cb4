import { describe, expect, it } from 'vitest';
import { deletedIn as deleted, ServerWorld, settle, typesIn } from '../../../../test/support/planner-world.ts';
import { fc, forAll, forAllAsync } from '../../../../test/support/property-runs.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import type { Plan } from '../../loop/plan.ts';
import { isSameForReplicas } from './plan-replicas.ts';
import { planReplicaSet, planReplicationController } from './replica-set.ts';

const now = new Date('2030-01-01T01:00:00Z');
const labels = { app: 'web' };
const owner = (uid: string) => [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }];

class World extends ServerWorld {
  observed = true;
  failures: any[] = [];

  set(spec: object, metadata: object = {}): any {
    return this.put(ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', namespace: 'x', uid: 'rs', generation: 1, ...metadata },
      spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: {} }, ...spec },
      status: {},
    });
  }

  pod(name: string, { metadata, spec, status }: any = {}): any {
    return this.put(Pod, {
      metadata: { name, namespace: 'x', labels, ownerReferences: owner('rs'), ...metadata },
      spec: { containers: [], ...spec },
      status: { phase: 'Running', conditions: [], ...status },
    });
  }

  plan(at = now): Plan {
    return planReplicaSet(this.of(ReplicaSet).get('web', 'x'), this, at);
  }
}

const ready = (since = '2030-01-01T00:00:00Z') => ({
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
});

const anyPod = fc.record({
  phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
  node: fc.constantFrom(undefined, 'a', 'b'),
  isReady: fc.boolean(),
  isGoing: fc.boolean(),
  label: fc.constantFrom('web', 'web', 'web', 'other'),
  owner: fc.constantFrom('rs', 'rs', 'rs', 'somebody', undefined),
});

const fieldsOf = (drawn: typeof anyPod extends fc.Arbitrary<infer T> ? T : never) => ({
  metadata: {
    labels: { app: drawn.label },
    ownerReferences: drawn.owner ? owner(drawn.owner) : [],
    ...(drawn.isGoing ? { deletionTimestamp: '2030-01-01T00:30:00Z' } : {}),
  },
  spec: { nodeName: drawn.node },
  status: { phase: drawn.phase, ...(drawn.isReady ? ready() : {}) },
});

describe('planReplicaSet', () => {
  it('reaches its size from any state, and never touches pods of another owner', async () => {
    await forAllAsync(
      { numRuns: 300 },
      fc.array(anyPod, { maxLength: 12 }),
      fc.nat({ max: 8 }),
      async (found, replicas) => {
        const world = new World();
        world.set({ replicas });
        found.forEach((each, index) => {
          world.pod(`p${index}`, fieldsOf(each));
        });
        const foreign = world
          .of(Pod)
          .list()
          .filter((pod: any) => pod.metadata.ownerReferences[0]?.uid === 'somebody');
        await settle(world, () => world.plan());
        const all: any[] = [...world.of(Pod).list()];
        for (const pod of foreign) expect(all).toContain(pod);
        const active = all.filter(
          ({ metadata, status }) =>
            metadata.ownerReferences[0]?.uid === 'rs' &&
            !metadata.deletionTimestamp &&
            !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
        );
        expect(active).toHaveLength(replicas);
        expect(active.every(({ metadata }) => metadata.labels.app === 'web')).toBe(true);
        expect(world.of(ReplicaSet).get('web', 'x').status.replicas).toBe(replicas);
      },
    );
  });

  it('ignores only updates that leave its plan as it is', () => {
    const shown = (plan: Plan) =>
      plan.map((action: any) => [action.type, action.patch ?? action.object?.status ?? action.milliseconds]);
    const planFor = (pod: object) => {
      const world = new World();
      world.set({ replicas: 1, minReadySeconds: 60 });
      const seen = world.pod('p', pod);
      return { seen, plan: world.plan() };
    };
    const version = anyPod.map(fieldsOf);
    forAll(version, version, (before, after) => {
      const [old, next] = [planFor(before), planFor(after)];
      fc.pre(isSameForReplicas(next.seen, old.seen));
      expect(shown(next.plan)).toEqual(shown(old.plan));
    });
    const bound = { spec: { nodeName: 'a' }, status: { conditions: [{ type: 'PodScheduled', status: 'True' }] } };
    expect(isSameForReplicas(planFor(bound).seen, planFor({}).seen)).toBe(true);
    const later = { status: ready('2030-01-01T00:10:00Z') };
    expect(isSameForReplicas(planFor(later).seen, planFor({ status: ready() }).seen)).toBe(false);
  });

  it('creates none beyond its size and deletes none below it, whatever it sees', () => {
    forAll(fc.nat({ max: 20 }), fc.nat({ max: 20 }), (present, replicas) => {
      const world = new World();
      world.set({ replicas });
      for (let i = 0; i < present; i++) world.pod(`p${i}`);
      const plan = world.plan();
      const created = plan.filter(({ type }) => type === 'create').length;
      expect(present + created - deleted(plan).length).toBe(replicas);
      expect(created === 0 || deleted(plan).length === 0).toBe(true);
    });
  });

  it('neither adopts, releases, creates nor deletes when it is being deleted itself', () => {
    const world = new World();
    world.set({}, { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['x'] });
    world.pod('mine');
    world.pod('orphan', { metadata: { ownerReferences: [] } });
    world.pod('strange', { metadata: { labels: {} } });
    expect(typesIn(world.plan())).toEqual(['updateStatus']);
    expect((world.plan()[0] as any).object.status.replicas).toBe(1);
  });

  it.each([
    ['one without a node', { spec: {} }],
    ['one that is pending', { spec: { nodeName: 'a' }, status: { phase: 'Pending' } }],
    ['one that is not ready', { spec: { nodeName: 'a' } }],
    ['a cheap one', { cost: '-1' }],
    ['one that shares its node', { spec: { nodeName: 'shared' } }],
    ['one that became ready lately', { status: ready('2030-01-01T00:59:00Z') }],
    ['one that was restarted', { status: { ...ready(), containerStatuses: [{ restartCount: 2 }] } }],
    ['a young one', { metadata: { creationTimestamp: '2030-01-01T00:59:50Z' } }],
  ])('deletes %s first', (_, fields: any) => {
    const world = new World();
    world.set({ replicas: 3 });
    const pod = (name: string, { cost, spec, status, metadata }: any = {}) =>
      world.pod(name, {
        metadata: {
          creationTimestamp: '2029-01-01T00:00:00Z',
          ...(cost ? { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } : {}),
          ...metadata,
        },
        spec: spec ?? { nodeName: name },
        status: status ?? (spec && spec.nodeName !== 'shared' ? {} : ready()),
      });
    pod('p1');
    pod('p2', { spec: { nodeName: 'shared' } });
    pod('worst', fields);
    pod('p3');
    expect(deleted(world.plan())).toHaveLength(1);
    // The two that share a node are equal.
    expect(fields.spec?.nodeName === 'shared' ? ['p2', 'worst'] : ['worst']).toContain(deleted(world.plan())[0]);
  });

  it('counts the pods of a sibling set on the same node', () => {
    const world = new World();
    const deployment = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd', controller: true }];
    world.set({ replicas: 1 }, { ownerReferences: deployment });
    world.put(ReplicaSet, {
      metadata: { name: 'sibling', namespace: 'x', uid: 'sibling', ownerReferences: deployment },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: {} },
      status: {},
    });
    world.pod('alone', { spec: { nodeName: 'a' }, status: ready() });
    world.pod('beside', { spec: { nodeName: 'b' }, status: ready() });
    world.pod('other', { metadata: { ownerReferences: owner('sibling') }, spec: { nodeName: 'b' }, status: ready() });
    expect(deleted(world.plan())).toEqual(['beside']);
  });

  it('counts pods as available after minReadySeconds, and plans again at that moment', () => {
    const world = new World();
    world.set({ replicas: 2, minReadySeconds: 90 });
    world.pod('old', { status: ready('2030-01-01T00:00:00Z') });
    world.pod('new', { status: ready('2030-01-01T00:59:00Z') });
    const plan = world.plan();
    expect((plan[0] as any).object.status).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 1 });
    expect(plan[1]).toEqual({ type: 'requeueAfter', milliseconds: 30_000 });
    const later = world.plan(new Date('2030-01-01T01:00:30Z'));
    expect((later[0] as any).object.status.availableReplicas).toBe(2);
    expect(later).toHaveLength(1);
  });

  it('does not update observedGeneration while surplus pods cannot be deleted', async () => {
    const world = new World();
    world.set({ replicas: 1 });
    world.pod('a', { status: ready() });
    await settle(world, () => world.plan());
    const set = world.of(ReplicaSet).get('web', 'x');
    world.put(ReplicaSet, { ...set, metadata: { ...set.metadata, generation: 2 }, spec: { ...set.spec, replicas: 0 } });
    const [removal] = world.plan();
    expect(removal?.type).toBe('delete');
    world.failures = [{ action: removal, error: new Error('no') }];
    world.apply(world.plan().filter(({ type }) => type === 'updateStatus'));
    const status = () => world.of(ReplicaSet).get('web', 'x').status;
    expect(status()).toMatchObject({ observedGeneration: 1, replicas: 1, availableReplicas: 1 });
    world.failures = [];
    await settle(world, () => world.plan());
    expect(status()).toMatchObject({ observedGeneration: 2, replicas: 0 });
  });

  it('replaces pods that a node rejected, and waits twice as long each time', () => {
    const world = new World();
    world.set({ replicas: 2 });
    const attempts: number[] = [];
    for (let second = 0; second < 600; second++) {
      const at = new Date(now.getTime() + second * 1000);
      const created = world.plan(at).filter(({ type }) => type === 'create').length;
      if (created > 0) attempts.push(second);
      for (let i = 0; i < created; i++) {
        world.pod(`p${second}-${i}`, {
          metadata: { creationTimestamp: at.toISOString() },
          status: { phase: 'Failed', reason: 'PortInUse', message: 'Pod was rejected: Port TCP/80 is in use' },
        });
      }
    }
    expect(attempts).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    // Pods that have run and failed are replaced at once.
    const other = new World();
    other.set({ replicas: 1 });
    other.pod('p', { metadata: { creationTimestamp: now.toISOString() }, status: { phase: 'Failed', message: 'x' } });
    expect(other.plan()).toContainEqual(expect.objectContaining({ type: 'create' }));
  });

  it('reports the first failure to create, and clears it on success', () => {
    const world = new World();
    world.set({ replicas: 1 });
    const create = world.plan()[0];
    world.failures = [{ action: create, error: new Error('no room') }];
    const plan = world.plan();
    expect(typesIn(plan)).toEqual(['updateStatus', 'create']);
    expect((plan[0] as any).object.status.conditions).toEqual([
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: 'no room',
        lastTransitionTime: '2030-01-01T01:00:00Z',
      },
    ]);
    world.apply(plan.slice(0, 1));
    world.failures = [{ action: create, error: new Error('other words') }];
    expect(typesIn(world.plan())).toEqual(['create']);
    world.failures = [];
    world.apply(world.plan());
    expect((world.plan()[0] as any).object.status.conditions).toBeUndefined();
  });
});

it('planReplicationController selects its pods by a map of labels', async () => {
  const world = new World();
  world.put(ReplicationController, {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'web', namespace: 'x', uid: 'rc' },
    spec: { replicas: 2, selector: labels, template: { metadata: { labels }, spec: {} } },
    status: {},
  });
  world.pod('orphan', { metadata: { ownerReferences: [] } });
  world.pod('other', { metadata: { ownerReferences: [], labels: { app: 'other' } } });
  await settle(world, () => planReplicationController(world.of(ReplicationController).get('web', 'x'), world, now));
  const owned: any[] = [...world.of(Pod).controlledBy('rc')];
  expect(owned).toHaveLength(2);
  expect(owned[0].metadata.ownerReferences).toEqual([
    {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      name: 'web',
      uid: 'rc',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  const { status } = world.of(ReplicationController).get('web', 'x');
  expect(status).toMatchObject({ replicas: 2, fullyLabeledReplicas: 2 });
  expect(status.terminatingReplicas).toBeUndefined();
});
