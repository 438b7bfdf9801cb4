import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../../kinds/groups/apps/daemon-set.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Plan } from '../../loop/plan.ts';
import { eligibility } from './daemon-nodes.ts';
import { targetNode } from './daemon-pod.ts';
import { planDaemonSet } from './daemon-set.ts';
import { FailedPods } from './failure-backoff.ts';

const NOW = Date.parse('2030-01-01T01:00:00Z');
const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' };
const UP = { phase: 'Running', conditions: [READY] };
const DOWN = { phase: 'Running', conditions: [{ ...READY, status: 'False' }] };

const node = fc.record({
  zone: fc.constantFrom('a', 'b'),
  taint: fc.constantFrom(undefined, undefined, undefined, 'NoSchedule', 'NoExecute', 'PreferNoSchedule'),
  /** Pods that exist before: none, or one with an older template. */
  before: fc.constantFrom(undefined, 'up', 'up', 'up', 'down', 'failed', 'crowd'),
});
const strategy = fc.oneof(
  fc.record({ maxUnavailable: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom('20%', '50%')) }),
  fc.record({ maxUnavailable: fc.constant(0), maxSurge: fc.integer({ min: 1, max: 3 }) }),
);
const cases = fc.record({
  nodes: fc.array(node, { minLength: 1, maxLength: 12 }),
  strategy,
  zone: fc.constantFrom(undefined, 'a'),
  /** Pods that become ready, round by round. */
  luck: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
});

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

class Scene {
  readonly world = new PlannerWorld();
  readonly backoff = new FailedPods();
  readonly #luck: boolean[];
  now = NOW;

  constructor({ nodes, strategy, zone, luck }: Case) {
    this.#luck = [...luck];
    const spec = { containers: [{ name: 'c', image: 'two' }], ...(zone ? { nodeSelector: { zone } } : {}) };
    const set = this.world.put(DaemonSet, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'd', namespace: 'x', generation: 2, uid: 'set' },
      spec: {
        selector: { matchLabels: { app: 'd' } },
        template: { metadata: { labels: { app: 'd' } }, spec },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: strategy },
        revisionHistoryLimit: 10,
      },
      status: {},
    });
    nodes.forEach(({ zone, taint, before }, at) => {
      const taints = taint ? [{ key: 't', effect: taint }] : undefined;
      this.world.put(Node, { metadata: { name: `n${at}`, labels: { zone } }, spec: { taints } });
      this.#pod(`other-${at}`, { at, app: 'other', uid: 'another' });
      if (!before) return;
      this.#pod(`d-${at}`, { at, app: 'd', uid: set.metadata.uid, status: STATES[before] });
      if (before === 'crowd') this.#pod(`d-${at}-2`, { at, app: 'd', uid: set.metadata.uid, status: UP });
    });
  }

  #pod(
    name: string,
    { at, app, uid, status = UP }: { readonly at: number; readonly app: string; readonly uid: string; status?: object },
  ) {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid, controller: true }];
    const labels = { app, 'controller-revision-hash': 'old' };
    const metadata = { name, namespace: 'x', labels, ownerReferences, creationTimestamp: '2030-01-01T00:00:00Z' };
    this.world.put(Pod, { metadata, spec: { nodeName: `n${at}` }, status });
  }

  get set() {
    return this.world.of(DaemonSet).get('d', 'x') as any;
  }

  get pods(): any[] {
    return this.world.of(Pod).controlledBy('set') as any[];
  }

  /** The nodes that should have a pod, each with those that it has. */
  nodes() {
    const test = eligibility(this.set);
    return (this.world.of(Node).list() as any[]).map((node) => ({
      ...test(node),
      pods: this.pods.filter((pod) => targetNode(pod) === node.metadata.name),
    }));
  }

  plan(): Plan {
    const world = { of: this.world.of, observed: { pods: true, revisions: true }, failures: [] };
    const { plan, failed } = planDaemonSet(this.set, world as never, { now: this.now, backoff: this.backoff });
    for (const key of failed) this.backoff.note(key, this.now);
    return plan;
  }

  /** Performs the API actions of the plan, without its requests to the loop. */
  perform(plan: Plan): void {
    this.world.apply(plan);
    for (const pod of this.pods) {
      if (pod.status === undefined) this.world.put(Pod, { ...pod, status: DOWN });
      else if (pod.status.phase !== 'Failed' && !isUp(pod) && (this.#luck.pop() ?? true)) {
        this.world.put(Pod, { ...pod, status: UP });
      }
    }
    this.now += 60_000;
  }
}

const STATES: Record<string, object> = { up: UP, down: DOWN, crowd: UP, failed: { phase: 'Failed' } };

const isUp = ({ status }: any) => status?.conditions?.[0]?.status === 'True';
const hasUp = ({ pods }: { pods: any[] }) => pods.some(isUp);
const isWork = (plan: Plan) => plan.some(({ type }) => type !== 'requeueAfter' && type !== 'event');

function settle(scene: Scene, look: (plan: Plan) => void): void {
  for (let round = 0; round < 200; round++) {
    const plan = scene.plan();
    const idle = !isWork(plan) && scene.pods.every(isUp);
    if (idle) return;
    look(plan);
    scene.perform(plan);
  }
  throw new Error('the plans do not come to an end');
}

const limitOf = ({ strategy }: Case, desired: number) => {
  const { maxUnavailable } = strategy;
  return typeof maxUnavailable === 'number'
    ? maxUnavailable
    : Math.ceil((Number.parseInt(maxUnavailable, 10) * desired) / 100);
};

describe('the plan of a DaemonSet', () => {
  it('never leaves more nodes without an available pod than it may', () => {
    forAll(cases, (given) => {
      fc.pre(!('maxSurge' in given.strategy));
      const scene = new Scene(given);
      settle(scene, (plan) => {
        const wanted = scene.nodes().filter(({ shouldRun }) => shouldRun);
        const gone = new Set(plan.flatMap((action) => (action.type === 'delete' ? [action.object.metadata.name] : [])));
        const after = wanted.map(({ pods }) => ({ pods: pods.filter((pod) => !gone.has(pod.metadata.name)) }));
        const missing = (nodes: { pods: any[] }[]) => nodes.filter((node_) => !hasUp(node_)).length;
        expect(missing(after)).toBeLessThanOrEqual(Math.max(missing(wanted), limitOf(given, wanted.length)));
      });
    });
  });

  it('never deletes the last available pod of an eligible node during a surge', () => {
    forAll(cases, (given) => {
      const { strategy } = given;
      fc.pre('maxSurge' in strategy);
      const scene = new Scene(given);
      settle(scene, (plan) => {
        const served = scene.nodes().filter((node_) => node_.shouldRun && hasUp(node_));
        const gone = new Set(plan.flatMap((action) => (action.type === 'delete' ? [action.object.metadata.name] : [])));
        for (const { pods } of served) {
          expect(pods.some((pod) => isUp(pod) && !gone.has(pod.metadata.name))).toBe(true);
        }
        const isOld = (pod: any) => pod.metadata.labels['controller-revision-hash'] === 'old';
        const surplus = served.filter(({ pods }) => pods.some(isOld) && pods.some((pod) => !isOld(pod) && !isUp(pod)));
        const added = plan.flatMap((action) =>
          action.type === 'create' && action.kind === Pod ? [action.object] : [],
        );
        const beside = added.filter((pod) =>
          served.some(({ pods }) => pods.some((old) => isOld(old) && targetNode(old) === targetNode(pod as any))),
        );
        const { maxSurge } = strategy as { maxSurge: number };
        if (beside.length > 0) expect(surplus.length + beside.length).toBeLessThanOrEqual(maxSurge);
      });
    });
  });

  it('ends with one new pod on each node that should have one, and never touches pods of another owner', () => {
    forAll(cases, (given) => {
      const scene = new Scene(given);
      const others = () => scene.world.of(Pod).controlledBy('another');
      const before = others();
      settle(scene, () => {});
      expect(others()).toEqual(before);
      const [revision] = scene.world.of(ControllerRevision).list() as any[];
      const nodes = scene.nodes();
      for (const { shouldRun, mayStay, pods } of nodes) {
        if (shouldRun) expect(pods).toHaveLength(1);
        if (!mayStay) expect(pods).toHaveLength(0);
        if (shouldRun) {
          const hash = revision.metadata.labels['controller-revision-hash'];
          expect(pods[0].metadata.labels['controller-revision-hash']).toBe(hash);
        }
      }
      const desired = nodes.filter(({ shouldRun }) => shouldRun).length;
      expect(scene.set.status).toMatchObject({
        desiredNumberScheduled: desired,
        currentNumberScheduled: desired,
        numberReady: desired,
        numberMisscheduled: nodes.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
        observedGeneration: 2,
      });
      expect(scene.set.status.updatedNumberScheduled ?? 0).toBe(desired);
      expect(scene.set.status.numberAvailable ?? 0).toBe(desired);
      expect(scene.set.status.numberUnavailable).toBeUndefined();
    });
  });
});

it('the back-off of failed pods doubles from a second to 15 minutes, and is reset after 30 minutes', () => {
  const backoff = new FailedPods();
  expect(backoff.wait('here', NOW)).toBe(0);
  let now = NOW;
  for (let count = 0; count < 12; count++) {
    backoff.note('here', now);
    const wait = backoff.wait('here', now);
    expect(wait).toBe(Math.min(1000 * 2 ** count, 900_000));
    expect(backoff.wait('there', now)).toBe(0);
    now += wait;
  }
  expect(backoff.wait('here', now + 1_800_001)).toBe(0);
  backoff.note('here', now + 1_800_001);
  expect(backoff.wait('here', now + 1_800_001)).toBe(1000);
});
