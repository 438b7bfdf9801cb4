import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Plan } from '../../loop/plan.ts';
import { planStatefulSet } from './stateful-set.ts';

const NOW = new Date('2030-01-01T01:00:00Z');
const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' };
const STATES = {
  up: { phase: 'Running', conditions: [READY] },
  down: { phase: 'Running', conditions: [{ ...READY, status: 'False' }] },
  pending: { phase: 'Pending' },
  ended: { phase: 'Failed' },
} as const;

const cases = fc.record({
  replicas: fc.integer({ min: 0, max: 6 }),
  start: fc.constantFrom<number[]>(0, 0, 2),
  isParallel: fc.boolean(),
  partition: fc.constantFrom(0, 0, 2),
  maxUnavailable: fc.constantFrom(undefined, 1, 2, '50%'),
  claims: fc.boolean(),
  /** Pods of an older template, by ordinal. */
  before: fc.array(fc.constantFrom(undefined, 'up', 'up', 'up', 'down', 'pending', 'ended'), { maxLength: 9 }),
  /** Pods that become ready, round by round. */
  luck: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
});

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

const isUp = ({ status }: any) => status?.conditions?.[0]?.status === 'True';
const ordinalOf = ({ metadata }: any) => Number(metadata.name.split('-').at(-1));

class Scene {
  readonly world = new PlannerWorld();
  readonly #luck: boolean[];

  constructor(given: Case) {
    const { replicas, start, isParallel, partition, maxUnavailable, claims, before, luck } = given;
    this.#luck = [...luck];
    this.world.put(StatefulSet, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's', namespace: 'x', generation: 2, uid: 'set' },
      spec: {
        replicas,
        selector: { matchLabels: { app: 's' } },
        serviceName: '',
        template: { metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'c', image: 'two' }] } },
        podManagementPolicy: isParallel ? 'Parallel' : 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition, maxUnavailable } },
        ordinals: { start },
        ...(claims ? { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] } : {}),
      },
      status: { replicas: 0 },
    });
    before.forEach((state, at) => {
      this.#pod(`other-${at}`, { app: 's', uid: 'another' });
      if (state) this.#pod(`s-${at}`, { app: 's', uid: 'set', status: STATES[state] });
    });
  }

  #pod(name: string, { app, uid, status = STATES.up }: { app: string; uid: string; status?: object }) {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid, controller: true }];
    const labels = { app, 'controller-revision-hash': 'old', 'statefulset.kubernetes.io/pod-name': name };
    this.world.put(Pod, { metadata: { name, namespace: 'x', labels, ownerReferences }, spec: {}, status });
  }

  get set() {
    return this.world.of(StatefulSet).get('s', 'x') as any;
  }

  get pods(): any[] {
    return this.world.of(Pod).controlledBy('set') as any[];
  }

  /** Returns the pod of each ordinal, or undefined. */
  places(): (any | undefined)[] {
    const { replicas, ordinals } = this.set.spec;
    return Array.from({ length: replicas }, (_, at) => this.world.of(Pod).get(`s-${ordinals.start + at}`, 'x'));
  }

  plan(): Plan {
    const world = { of: this.world.of, observed: { pods: true, revisions: true } };
    return planStatefulSet(this.set, world as never, NOW);
  }

  perform(plan: Plan): void {
    this.world.apply(plan);
    for (const pod of this.pods) {
      if (pod.status === undefined) this.world.put(Pod, { ...pod, status: STATES.pending });
      else if (pod.status.phase !== 'Failed' && !isUp(pod) && (this.#luck.pop() ?? true)) {
        this.world.put(Pod, { ...pod, status: STATES.up });
      }
    }
  }
}

function settle(scene: Scene, look: (plan: Plan) => void): void {
  for (let round = 0; round < 300; round++) {
    const plan = scene.plan();
    if (plan.length === 0 && scene.pods.every(isUp)) return;
    look(plan);
    scene.perform(plan);
  }
  throw new Error('the plans do not come to an end');
}

const about = (plan: Plan, type: 'create' | 'delete') =>
  plan.flatMap((action) => (action.type === type && action.kind === Pod ? [action.object as any] : []));

describe('the plan of a StatefulSet', () => {
  it('in order, starts a pod when all before it are available, and deletes the last first, one at a time', () => {
    forAll(cases, (given) => {
      fc.pre(!given.isParallel);
      const scene = new Scene(given);
      settle(scene, (plan) => {
        const places = scene.places();
        const [created, ...moreCreated] = about(plan, 'create');
        const deleted = about(plan, 'delete');
        expect(moreCreated).toEqual([]);
        if (created) {
          expect(deleted).toEqual([]);
          const at = ordinalOf(created) - given.start;
          expect(places.slice(0, at).every((pod) => pod && isUp(pod))).toBe(true);
        }
        const outside = scene.pods.filter((pod) => !places.includes(pod)).map(ordinalOf);
        const leaving = deleted.map(ordinalOf).filter((ordinal) => outside.includes(ordinal));
        if (leaving.length > 0) expect(leaving).toEqual([Math.max(...outside)]);
        if (leaving.length > 0) expect(places.every((pod) => pod && isUp(pod))).toBe(true);
      });
    });
  });

  it('never exceeds maxUnavailable', () => {
    forAll(cases, (given) => {
      const { maxUnavailable: limit = 1, replicas } = given;
      const allowed = typeof limit === 'number' ? limit : Math.ceil(replicas / 2);
      const scene = new Scene(given);
      settle(scene, (plan) => {
        const places = scene.places();
        const gone = new Set(about(plan, 'delete').map(({ metadata }) => metadata.name));
        const missing = (all: any[]) => all.filter((pod) => !pod || !isUp(pod)).length;
        const after = places.filter((pod) => !pod || !gone.has(pod.metadata.name));
        const removed = places.length - after.length;
        expect(missing(after) + removed).toBeLessThanOrEqual(Math.max(missing(places), allowed));
      });
    });
  });

  it('ends with a pod for every ordinal, updated from the partition on, and never touches pods of another owner', () => {
    forAll(cases, (given) => {
      const { replicas, start, partition, claims } = given;
      const scene = new Scene(given);
      const others = () => scene.world.of(Pod).controlledBy('another');
      const before = others();
      const touched: string[] = [];
      settle(scene, (plan) => {
        for (const { metadata } of about(plan, 'delete')) {
          const at = ordinalOf({ metadata }) - start;
          if (at >= 0 && at < Math.min(partition, replicas)) touched.push(metadata.name);
        }
      });
      expect(others()).toEqual(before);
      const wanted = Array.from({ length: replicas }, (_, at) => `s-${start + at}`);
      expect(scene.pods.map(({ metadata }) => metadata.name).sort()).toEqual(wanted);
      const { status } = scene.set;
      for (const pod of scene.pods) {
        const revision = pod.metadata.labels['controller-revision-hash'];
        if (ordinalOf(pod) >= start + partition) expect(revision).toBe(status.updateRevision);
      }
      // Below the partition only what had ended was replaced.
      const ended = given.before.flatMap((state, at) => (state === 'ended' ? [`s-${at}`] : []));
      expect(touched.every((name) => ended.includes(name))).toBe(true);
      expect(status).toMatchObject({ replicas, availableReplicas: replicas, observedGeneration: 2 });
      if (claims) {
        const made = scene.pods.filter(({ spec }) => spec.volumes?.[0]?.persistentVolumeClaim);
        for (const { spec } of made) {
          const { claimName } = spec.volumes[0].persistentVolumeClaim;
          expect(scene.world.of(PersistentVolumeClaim).get(claimName, 'x')).toBeDefined();
        }
      }
    });
  });

  describe('of the largest size that a client can write', () => {
    const LARGEST: Case = {
      replicas: 2 ** 31 - 1,
      start: 0,
      isParallel: true,
      partition: 0,
      maxUnavailable: '50%',
      claims: true,
      before: ['up', undefined, 'up'],
      luck: [],
    };
    const created = (given: Case) => {
      const scene = new Scene(given);
      scene.perform(scene.plan());
      return about(scene.plan(), 'create').map(({ metadata }) => metadata.name);
    };

    it('starts a limited number of pods, the first missing ones', () => {
      const names = created(LARGEST);
      expect(names).toHaveLength(500);
      expect(names.slice(0, 3)).toEqual(['s-1', 's-3', 's-4']);
    });

    it('starts one pod in order', () => {
      expect(created({ ...LARGEST, isParallel: false })).toEqual(['s-1']);
    });

    it('ends at the largest ordinal, and recognizes its pods there', () => {
      const scene = new Scene({ ...LARGEST, start: 2 ** 31 - 2, claims: false, before: [] });
      for (let round = 0; round < 4; round++) scene.perform(scene.plan());
      expect(scene.pods.map(({ metadata }) => metadata.name)).toEqual(['s-2147483646', 's-2147483647']);
      expect(about(scene.plan(), 'create')).toEqual([]);
    });
  });
});
