import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../test/support/planner-world.ts';
import type { KindRef } from '../../client/object-types.ts';
import { Deployment } from '../../kinds/apps/deployment.ts';
import { ReplicaSet } from '../../kinds/apps/replica-set.ts';
import { Pod } from '../../kinds/core/pod.ts';
import type { Plan } from '../plan.ts';
import { planDeployment } from './deployment.ts';
import { sameTemplate } from './same-template.ts';
import { stepsOf } from './steps.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const labels = { app: 'web' };
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } }) as any;

/** A Deployment, its sets, and how many pods of each set there are and are available: counts stand for the pods. */
class World extends PlannerWorld {
  observed = false;
  failures: any[] = [];

  /** As the server has it: with a status from the beginning. */
  override put(kind: KindRef, object: any): any {
    return super.put(kind, { status: {}, ...object });
  }
  now = START;
  /** What is really there; the status of a set may lag behind it. */
  readonly real = new Map<string, { pods: number; available: number }>();

  deployment(spec: object = {}, metadata: object = {}): any {
    return this.put(Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'x', uid: 'd', generation: 1, ...metadata },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: template('0'),
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        progressDeadlineSeconds: 600,
        revisionHistoryLimit: 10,
        ...spec,
      },
      status: {},
    });
  }

  get web(): any {
    return this.of(Deployment).get('web', 'x');
  }

  get sets(): any[] {
    return [...this.of(ReplicaSet).list('x')];
  }

  change(spec: object): void {
    const { metadata, spec: old, ...rest } = this.web;
    this.put(Deployment, {
      ...rest,
      metadata: { ...metadata, generation: metadata.generation + 1 },
      spec: { ...old, ...spec },
    });
  }

  plan(): Plan {
    return planDeployment(this.web, this, new Date(this.now));
  }

  step(): Plan {
    this.now += 1000;
    const plan = this.plan();
    this.apply(plan.map((action) => this.#stamped(action)));
    return plan;
  }

  #stamped(action: any): any {
    if (action.type !== 'create') return action;
    const creationTimestamp = new Date(this.now).toISOString();
    return { ...action, object: { ...action.object, metadata: { ...action.object.metadata, creationTimestamp } } };
  }

  /** The set's controller at work: pods that are not available go first. */
  resize(set: any): void {
    const now = this.real.get(set.metadata.uid) ?? { pods: 0, available: 0 };
    const pods = set.spec.replicas;
    const gone = Math.max(0, now.pods - pods);
    const ailing = now.pods - now.available;
    this.real.set(set.metadata.uid, { pods, available: now.available - Math.max(0, gone - ailing) });
  }

  becomeAvailable(set: any, count: number): void {
    const now = this.real.get(set.metadata.uid) ?? { pods: 0, available: 0 };
    this.real.set(set.metadata.uid, { ...now, available: Math.min(now.pods, now.available + count) });
  }

  report(set: any): void {
    const { pods, available } = this.real.get(set.metadata.uid) ?? { pods: 0, available: 0 };
    const { generation = 0 } = set.metadata;
    const status = {
      observedGeneration: generation,
      replicas: pods,
      readyReplicas: available,
      availableReplicas: available,
      terminatingReplicas: 0,
    };
    this.put(ReplicaSet, { ...set, status });
  }

  /** Everything goes well until nothing is left to do. */
  finish(): void {
    for (let round = 0; round < 500; round++) {
      for (const set of this.sets) {
        this.resize(set);
        this.becomeAvailable(set, 1000);
        this.report(set);
      }
      const acts = this.step().filter(({ type }) => type !== 'requeueAfter');
      if (acts.length === 0) return;
    }
    throw new Error('the rollout does not end');
  }

  get total(): { pods: number; available: number; wanted: number } {
    const real = [...this.real.values()];
    return {
      pods: real.reduce((sum, { pods }) => sum + pods, 0),
      available: real.reduce((sum, { available }) => sum + available, 0),
      wanted: this.sets.reduce((sum, { spec }) => sum + spec.replicas, 0),
    };
  }
}

const amount = fc.oneof(
  fc.nat({ max: 5 }),
  fc.nat({ max: 100 }).map((share) => `${share}%`),
);
/** What may happen between two plans. */
const happening = fc.oneof(
  fc.record({ what: fc.constant('resize' as const), set: fc.nat({ max: 4 }) }),
  fc.record({
    what: fc.constant('available' as const),
    set: fc.nat({ max: 4 }),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ what: fc.constant('report' as const), set: fc.nat({ max: 4 }) }),
  fc.record({ what: fc.constant('plan' as const) }),
  fc.record({ what: fc.constant('template' as const), image: fc.constantFrom('0', '1', '2') }),
);

describe('planDeployment', () => {
  it('never has more pods or fewer available ones than allowed, and ends with the last template', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.record({ maxSurge: amount, maxUnavailable: amount }),
        fc.array(happening, { maxLength: 60 }),
        (replicas, rollingUpdate, happenings) => {
          const world = new World();
          world.deployment({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate } });
          world.finish();
          const { maxSurge, maxUnavailable } = stepsOf(world.web);
          for (const each of happenings) {
            const set = 'set' in each ? world.sets[each.set] : undefined;
            switch (each.what) {
              case 'resize':
                if (set) world.resize(set);
                break;
              case 'available':
                if (set) world.becomeAvailable(set, each.count);
                break;
              case 'report':
                if (set) world.report(set);
                break;
              case 'plan':
                world.step();
                break;
              case 'template':
                world.change({ template: template(each.image) });
                break;
            }
            expect(world.total.wanted).toBeLessThanOrEqual(replicas + maxSurge);
            expect(world.total.available).toBeGreaterThanOrEqual(replicas - maxUnavailable);
          }
          world.finish();
          expect(world.total).toEqual({ pods: replicas, available: replicas, wanted: replicas });
          const [fresh] = world.sets.filter(({ spec }) => spec.replicas > 0);
          expect(sameTemplate(fresh.spec.template, world.web.spec.template)).toBe(true);
          expect(world.web.status.conditions.map(({ type, status, reason }: any) => [type, status, reason])).toEqual(
            expect.arrayContaining([
              ['Available', 'True', 'MinimumReplicasAvailable'],
              ['Progressing', 'True', 'NewReplicaSetAvailable'],
            ]),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('comes to any size from any point of a rollout', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 6 }), fc.nat({ max: 6 }), (sizes, steps) => {
        const world = new World();
        world.deployment({ replicas: 10 });
        world.finish();
        world.change({ template: template('1') });
        for (const replicas of sizes) {
          for (let i = 0; i < steps; i++) world.step();
          for (const set of world.sets) {
            world.resize(set);
            world.becomeAvailable(set, 1);
            world.report(set);
          }
          world.change({ replicas });
        }
        world.finish();
        const last = sizes.at(-1) as number;
        expect(world.total).toEqual({ pods: last, available: last, wanted: last });
      }),
    );
  });

  it('has no new pod beside an old one, when it recreates them', () => {
    const world = new World();
    world.deployment({ strategy: { type: 'Recreate' } });
    world.finish();
    world.change({ template: template('1') });
    world.step();
    expect(world.sets.map(({ spec }) => spec.replicas)).toEqual([0]);
    world.resize(world.sets[0]);
    world.report(world.sets[0]);
    const references = [{ kind: 'ReplicaSet', name: 'r', uid: world.sets[0].metadata.uid, controller: true }];
    const metadata = { name: 'late', namespace: 'x', ownerReferences: references, deletionTimestamp: 'now' };
    world.put(Pod, { metadata, spec: {}, status: { phase: 'Running' } });
    world.step();
    expect(world.sets).toHaveLength(1);
    world.put(Pod, { metadata, spec: {}, status: { phase: 'Succeeded' } });
    world.step();
    expect(world.sets.map(({ spec }) => spec.replicas)).toEqual([0, 3]);
  });

  it('touches no set of another owner', () => {
    const world = new World();
    world.observed = true;
    const set = (name: string, metadata: object) =>
      world.put(ReplicaSet, {
        metadata: { name, namespace: 'x', labels, ...metadata },
        spec: { replicas: 5, selector: { matchLabels: labels }, template: template('0') },
        status: {},
      });
    const foreign = set('foreign', {
      ownerReferences: [{ kind: 'Deployment', name: 'o', uid: 'o', controller: true }],
    });
    set('orphan', {});
    world.deployment();
    world.finish();
    const { spec, metadata } = world.of(ReplicaSet).get('foreign', 'x');
    expect(spec).toBe(foreign.spec);
    expect(metadata.ownerReferences).toBe(foreign.metadata.ownerReferences);
    expect(world.of(ReplicaSet).get('orphan', 'x').metadata.ownerReferences).toMatchObject([{ uid: 'd' }]);
    expect(world.sets).toHaveLength(2);
  });

  it('keeps as many old sets as its limit says, and none that still has pods', () => {
    const world = new World();
    world.deployment({ revisionHistoryLimit: 2 });
    for (const image of ['1', '2', '3', '4']) {
      world.change({ template: template(image) });
      world.finish();
    }
    const images = world.sets.map(({ spec }) => spec.template.spec.containers[0].image);
    expect(images.sort()).toEqual(['2', '3', '4']);
    expect(world.web.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '4' });
  });

  it('tells that its set cannot be created, before it tries again', () => {
    const world = new World();
    world.deployment();
    const [create] = world.plan();
    world.failures = [{ action: create, error: new Error('no') }];
    const plan = world.plan();
    expect(plan.map(({ type }) => type)).toEqual(['updateStatus', 'create']);
    const name = (create as any).object.metadata.name;
    expect((plan[0] as any).object.status.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Progressing',
        status: 'False',
        reason: 'ReplicaSetCreateError',
        message: `Failed to create new replica set "${name}": no`,
      }),
    );
    expect((create as any).report.failed(new Error('no'))).toEqual({
      eventType: 'Warning',
      reason: 'ReplicaSetCreateError',
      message: `Failed to create new replica set "${name}": no`,
    });
  });

  it('counts a collision and takes another name', () => {
    const world = new World();
    world.deployment();
    const { name } = (world.plan()[0] as any).object.metadata;
    world.put(ReplicaSet, {
      metadata: { name, namespace: 'x', labels: {} },
      spec: { replicas: 0, selector: {}, template: template('x') },
      status: {},
    });
    world.step();
    expect(world.web.status.collisionCount).toBe(1);
    expect((world.plan()[0] as any).object.metadata.name).not.toBe(name);
  });

  it('only counts when it is being deleted', () => {
    const world = new World();
    world.deployment({}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    expect(world.plan().map(({ type }) => type)).toEqual(['updateStatus']);
  });
});

describe('the steps of a rollout', () => {
  it.each([
    ['25%', '25%', 10, { maxSurge: 3, maxUnavailable: 2 }],
    ['25%', '25%', 1, { maxSurge: 1, maxUnavailable: 0 }],
    [0, '10%', 5, { maxSurge: 0, maxUnavailable: 1 }],
    ['0%', '0%', 5, { maxSurge: 0, maxUnavailable: 1 }],
    [2, 8, 5, { maxSurge: 2, maxUnavailable: 5 }],
  ])('of %s and %s for %i pods', (maxSurge, maxUnavailable, replicas, steps) => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
    expect(stepsOf({ spec: { replicas, strategy } } as any)).toEqual(steps);
  });
});
