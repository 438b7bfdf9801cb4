import { describe, expect, it } from 'vitest';
import { ServerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll, propertyRuns } from '../../../../test/support/property-runs.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Plan } from '../../loop/plan.ts';
import { planDeployment } from './deployment.ts';
import { sameTemplate } from './new-set.ts';
import { updateLimitsOf } from './working-set.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const labels = { app: 'web' };
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } }) as any;

/** Pods of a set as counts. Available pods are among the ready ones. */
interface Pods {
  readonly pods: number;
  readonly ready: number;
  readonly available: number;
}

const NO_PODS: Pods = { pods: 0, ready: 0, available: 0 };

/** Returns the pods that the ReplicaSet controller leaves: unready ones go first, then the least useful ones. */
function resized({ pods, ready, available }: Pods, size: number): Pods {
  const lost = Math.max(0, Math.min(pods, ready) - size);
  return { pods: size, ready: ready - lost, available: Math.max(0, available - lost) };
}

/** A Deployment, its sets, and the pods that there are. */
class World extends ServerWorld {
  observed = false;
  failures: any[] = [];

  now = START;
  /** Real pods of each set; the status of a set may lag behind them. */
  readonly real = new Map<string, Pods>();

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

  /** Stamps sets as the server does: with the time of creation, and a generation that counts changes of the spec. */
  #stamped(action: any): any {
    if (action.type !== 'create' && !(action.type === 'update' && action.kind === ReplicaSet)) return action;
    const { metadata, spec } = action.object;
    const old = this.of(ReplicaSet).get(metadata.name, metadata.namespace);
    const stamp = old
      ? { generation: metadata.generation + (deepEqual(spec, old.spec) ? 0 : 1) }
      : { generation: 1, creationTimestamp: new Date(this.now).toISOString() };
    return { ...action, object: { ...action.object, metadata: { ...metadata, ...stamp } } };
  }

  podsOf({ metadata }: any): Pods {
    return this.real.get(metadata.uid) ?? NO_PODS;
  }

  /** The set's controller at work. */
  resize(set: any): void {
    this.real.set(set.metadata.uid, resized(this.podsOf(set), set.spec.replicas));
  }

  becomeReady(set: any, count: number): void {
    const now = this.podsOf(set);
    this.real.set(set.metadata.uid, { ...now, ready: Math.min(now.pods, now.ready + count) });
  }

  becomeAvailable(set: any, count: number): void {
    const { pods, ready, available } = this.podsOf(set);
    const next = Math.min(pods, available + count);
    this.real.set(set.metadata.uid, { pods, ready: Math.max(ready, next), available: next });
  }

  fail(set: any, count: number): void {
    const { pods, ready, available } = this.podsOf(set);
    const failed = Math.min(available, count);
    this.real.set(set.metadata.uid, { pods, ready: ready - failed, available: available - failed });
  }

  report(set: any): void {
    const { pods, ready, available } = this.podsOf(set);
    const isShrinking = pods > set.spec.replicas;
    const status = {
      observedGeneration: isShrinking ? set.status.observedGeneration : set.metadata.generation,
      replicas: pods,
      readyReplicas: ready,
      availableReplicas: available,
      terminatingReplicas: 0,
    };
    this.put(ReplicaSet, { ...set, status });
  }

  /** Number of available pods once the sets have reached their requested size. */
  get left(): number {
    return this.sets.reduce((sum, set) => sum + resized(this.podsOf(set), set.spec.replicas).available, 0);
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

function rolledOut(spec: object = {}): World {
  const world = new World();
  world.deployment(spec);
  world.finish();
  return world;
}

const amount = fc.oneof(
  fc.nat({ max: 2 }),
  fc.nat({ max: 100 }).map((share) => `${share}%`),
);
/** Generates one value for each of the first sets. */
const each = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 3, maxLength: 3 });
/** Often nothing, often all. */
const some = fc.constantFrom(0, 0, 1, 100);
/**
 * Events between two plans. The status of a set may lag behind its size indefinitely, and behind its pods while none is
 * missed; when pods fail or are missing, it is updated at once.
 */
const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('work' as const),
      resizes: each(fc.boolean()),
      available: each(some),
      reports: each(fc.boolean()),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('template' as const), image: fc.constantFrom('0', '1', '0', '1', '2') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('scale' as const), replicas: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('ready' as const, 'fail' as const), pods: each(some) }),
  },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** Judges plans by the pods themselves, not by the planner's view of them. */
class Judge {
  /** True as long as nothing else has caused too few or too many pods. */
  #isUndisturbed = true;

  constructor(readonly world: World) {}

  happen(happening: Happening): void {
    const { world } = this;
    switch (happening.what) {
      case 'template':
        world.change({ template: template(happening.image) });
        break;
      case 'scale':
        this.#disturb();
        world.change({ replicas: happening.replicas });
        break;
      case 'work':
        for (const [at, set] of world.sets.slice(0, 3).entries()) this.#work(set, happening, at);
        break;
      case 'ready':
      case 'fail':
        this.#disturb();
        for (const [at, set] of world.sets.slice(0, 3).entries()) {
          if (happening.what === 'ready') world.becomeReady(set, happening.pods[at]!);
          else world.fail(set, happening.pods[at]!);
          world.report(set);
        }
    }
    this.#check();
    this.#plan();
    this.#check();
  }

  /** Allows pods to be missed from now on: a status that is behind its pods catches up. */
  #disturb(): void {
    const { world } = this;
    this.#isUndisturbed = false;
    for (const set of world.sets) {
      if ((set.status.availableReplicas ?? 0) < world.podsOf(set).available) world.report(set);
    }
  }

  #work(set: any, { resizes, available, reports }: Extract<Happening, { what: 'work' }>, at: number): void {
    const { world } = this;
    if (resizes[at]) world.resize(set);
    const count = available[at]!;
    world.becomeAvailable(set, count);
    if (reports[at] || (count > 0 && !this.#isUndisturbed)) world.report(set);
  }

  #check(): void {
    if (!this.#isUndisturbed) return;
    expect(this.world.total.wanted).toBeLessThanOrEqual(this.#most);
    expect(this.world.total.available).toBeGreaterThanOrEqual(this.#enough);
  }

  /** A plan takes no available pod that would be missed, and adds none beyond the surge. */
  #plan(): void {
    const { world } = this;
    const before = { left: world.left, wanted: world.total.wanted };
    const wanted = world.web.spec.replicas;
    const isScaling = world.sets.some(({ spec, metadata }) => {
      const sizedFor = metadata.annotations?.['deployment.kubernetes.io/desired-replicas'];
      const isResized = spec.replicas > 0 && sizedFor !== undefined && Number(sizedFor) !== wanted;
      return isResized || spec.replicas > wanted;
    });
    world.step();
    // A Deployment that is scaled down during a rollout shrinks each set, and then the newest one to its own size, as in
    // Kubernetes, whether pods are available or not.
    if (!isScaling) expect(world.left).toBeGreaterThanOrEqual(Math.min(before.left, this.#enough));
    expect(world.total.wanted).toBeLessThanOrEqual(Math.max(before.wanted, this.#most));
  }

  get #most(): number {
    return this.world.web.spec.replicas + updateLimitsOf(this.world.web).maxSurge;
  }

  get #enough(): number {
    return this.world.web.spec.replicas - updateLimitsOf(this.world.web).maxUnavailable;
  }
}

describe('planDeployment', () => {
  it('never exceeds maxSurge and maxUnavailable, however late its caches are, and ends with the last template', () => {
    forAll(
      { numRuns: propertyRuns(150) },
      fc.integer({ min: 1, max: 5 }),
      fc.record({ maxSurge: amount, maxUnavailable: amount }),
      fc.array(happening, { minLength: 10, maxLength: 40 }),
      (replicas, rollingUpdate, happenings) => {
        const world = rolledOut({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate } });
        const judge = new Judge(world);
        for (const each of happenings) judge.happen(each);
        world.finish();
        const wanted = world.web.spec.replicas;
        expect(world.total).toEqual({ pods: wanted, available: wanted, wanted });
        const [currentSet] = world.sets.filter(({ spec }) => spec.replicas > 0);
        expect(sameTemplate(currentSet.spec.template, world.web.spec.template)).toBe(true);
        expect(world.web.status.conditions.map(({ type, status, reason }: any) => [type, status, reason])).toEqual(
          expect.arrayContaining([
            ['Available', 'True', 'MinimumReplicasAvailable'],
            ['Progressing', 'True', 'NewReplicaSetAvailable'],
          ]),
        );
      },
    );
  });

  it('does not mistake new pods for those that a set had before it shrank and grew', () => {
    const world = new World();
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    world.deployment({ replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate } });
    world.finish();
    world.change({ template: template('1') });
    for (let i = 0; i < 2; i++) world.step();
    const old = () => world.sets.find(({ spec }) => spec.template.spec.containers[0].image === '0');
    const other = () => world.sets.find(({ spec }) => spec.template.spec.containers[0].image === '1');
    world.resize(other());
    world.becomeAvailable(other(), 1);
    world.report(other());
    world.step();
    world.resize(old());
    expect([old().spec.replicas, old().status.availableReplicas]).toEqual([0, 2]);
    world.change({ template: template('0') });
    for (let i = 0; i < 5; i++) world.step();
    world.resize(old());
    world.resize(other());
    expect(old().spec.replicas).toBeGreaterThan(0);
    expect(world.total.available).toBe(1);
    world.finish();
    expect(world.total).toEqual({ pods: 2, available: 2, wanted: 2 });
  });

  it('continues a rollout when the desired size is that of an old set', () => {
    const world = new World();
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 5 };
    world.deployment({ replicas: 9, strategy: { type: 'RollingUpdate', rollingUpdate } });
    world.finish();
    world.change({ template: template('1') });
    world.step();
    expect(world.sets.map(({ spec }) => spec.replicas)).toEqual([4, 0]);
    world.change({ replicas: 4 });
    world.finish();
    expect(world.sets.map(({ spec }) => spec.replicas)).toEqual([0, 4]);
  });

  it('continues when it is scaled and switched to Recreate during a rollout', () => {
    const world = rolledOut({ replicas: 10 });
    world.change({ template: template('1') });
    world.step();
    world.change({ replicas: 4, strategy: { type: 'Recreate' } });
    world.finish();
    expect(world.sets.map(({ spec }) => spec.replicas)).toEqual([0, 4]);
  });

  it('reaches any size from any point of a rollout', () => {
    forAll(fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 6 }), fc.nat({ max: 6 }), (sizes, steps) => {
      const world = rolledOut({ replicas: 10 });
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
    });
  });

  it('never has new and old pods together with Recreate', () => {
    const world = rolledOut({ strategy: { type: 'Recreate' } });
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

  it('never touches sets of another owner', () => {
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

  it('keeps old sets up to the history limit, and deletes none that has pods', () => {
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

  it('counts on from the revision of a set that it adopts, which may have 64 bits', () => {
    for (const [revision, next] of [
      ['3546343826724305832', '3546343826724305833'],
      ['9223372036854775807', '9223372036854775807'],
      ['99999999999999999999', '1'],
    ]) {
      const world = new World();
      world.observed = true;
      world.put(ReplicaSet, {
        metadata: {
          name: 'old',
          namespace: 'x',
          labels,
          annotations: { 'deployment.kubernetes.io/revision': revision },
        },
        spec: { replicas: 0, selector: { matchLabels: labels }, template: template('older') },
        status: {},
      });
      world.deployment();
      world.finish();
      expect(world.web.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': next });
    }
  });

  it('reports that its set cannot be created, before it retries', () => {
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

  it('counts a collision and uses another name', () => {
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

  it('only updates its status when it is being deleted', () => {
    const world = new World();
    world.deployment({}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    expect(world.plan().map(({ type }) => type)).toEqual(['updateStatus']);
  });
});

it.each([
  ['25%', '25%', 10, { maxSurge: 3, maxUnavailable: 2 }],
  ['25%', '25%', 1, { maxSurge: 1, maxUnavailable: 0 }],
  [0, '10%', 5, { maxSurge: 0, maxUnavailable: 1 }],
  ['0%', '0%', 5, { maxSurge: 0, maxUnavailable: 1 }],
  [2, 8, 5, { maxSurge: 2, maxUnavailable: 5 }],
])('the limits of a rollout of %s and %s for %i pods', (maxSurge, maxUnavailable, replicas, steps) => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
  expect(updateLimitsOf({ spec: { replicas, strategy } } as any)).toEqual(steps);
});
