import { describe, expect, test } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../../test/support/divided-work.ts';
import { statusIn } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { ApiError } from '../../../api/errors.ts';
import { deepFreeze } from '../../../base/json/tree.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import type { Action } from '../../loop/plan.ts';
import type { Autoscaler } from './decide.ts';
import type { Reading } from './metrics/readings.ts';
import { planAutoscaler as dividedPlan, type Look, type World } from './plan-autoscaler.ts';
import { NO_HISTORY, type ScalingHistory } from './scaling/limit.ts';

const planAutoscaler = (autoscaler: Parameters<typeof dividedPlan>[0], world: Omit<World, 'pace'>, now: Date) =>
  atOnce(dividedPlan(autoscaler, { ...world, pace: NEVER_SPENT }, now));

const START = Date.parse('2030-01-01T01:00:00Z');
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };

const autoscalerWith = (spec: object = {}, status: object = {}): Autoscaler =>
  deepFreeze({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop', uid: 'u' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      ...{ minReplicas: 1, maxReplicas: 10, metrics: [cpu], ...spec },
    },
    status: { desiredReplicas: 0, ...status },
  }) as unknown as Autoscaler;

const podsOf = (count: number, { request = '100m', app = 'web' } = {}): any[] =>
  Array.from({ length: count }, (_, index) => ({
    metadata: { name: `p${index}`, namespace: 'shop', labels: { app } },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: request } } }] },
    status: {
      ...{ phase: 'Running', startTime: '2030-01-01T00:00:00Z' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:05Z' }],
    },
  }));
/** Reading with the usage of each pod, in thousandths. */
const usage = (count: number, each: number): Reading => ({
  type: 'pods',
  samples: new Map(
    Array.from({ length: count }, (_, index) => [
      `p${index}`,
      { value: BigInt(each), time: START, window: 10_000 } as const,
    ]),
  ),
});
const problem = (why: string): Reading => ({ type: 'problem', why });
const targetOf = (replicas: number, selector = 'app=web'): Look['target'] => ({
  ...{ kind: Deployment, replicas, observed: replicas, selector },
});
const lookAt = (replicas: number, ...readings: Reading[]): Look => ({
  target: targetOf(replicas),
  readings,
  rivals: [],
});

const plan = (autoscaler: Autoscaler, look: Look | number, world: Partial<World> = {}) => {
  const pods = typeof look === 'number' || typeof look.target === 'string' ? [] : podsOf(look.target.replicas);
  const now = new Date(START);
  return planAutoscaler(autoscaler, { look, pods, history: NO_HISTORY, failures: [], ...world }, now);
};
const conditionsIn = (actions: readonly Action[]): any =>
  Object.fromEntries(
    statusIn(actions).conditions.map(({ type, status, reason, message }: any) => [type, [status, reason, message]]),
  );
const eventsIn = (actions: readonly Action[]) =>
  actions.flatMap((action) =>
    action.type === 'event' ? [`${action.eventType} ${action.reason}: ${action.message}`] : [],
  );
const rescaleIn = (actions: readonly Action[]) => actions.find((action) => action.type === 'updateSubresource');
const wantedIn = (actions: readonly Action[]): number | undefined =>
  (rescaleIn(actions) as any)?.object.spec.replicas as number | undefined;

describe('an autoscaler', () => {
  test('whose pods are busy adds some, and reports it', () => {
    const { plan: actions, history } = plan(autoscalerWith(), lookAt(2, usage(2, 90)));
    expect(actions.map(({ type }) => type)).toEqual(['updateSubresource', 'updateStatus', 'requeueAfter']);
    expect(rescaleIn(actions)).toMatchObject({
      kind: Deployment,
      subresource: 'scale',
      object: {
        ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web', namespace: 'shop' } },
        spec: { replicas: 4 },
      },
    });
    const { report } = rescaleIn(actions) as any;
    const reason = 'cpu resource utilization (percentage of request) above target';
    expect(report.done()).toEqual({
      ...{ eventType: 'Normal', reason: 'SuccessfulRescale', message: `New size: 4; reason: ${reason}` },
    });
    expect(report.failed(new Error('no room'))).toMatchObject({
      ...{ eventType: 'Warning', reason: 'FailedRescale', message: `New size: 4; reason: ${reason}; error: no room` },
    });
    expect(statusIn(actions)).toEqual({
      lastScaleTime: '2030-01-01T01:00:00Z',
      currentReplicas: 2,
      desiredReplicas: 4,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '90m' } } },
      ],
      conditions: expect.any(Array),
    });
    const found = 'the HPA was able to successfully calculate a replica count from';
    expect(conditionsIn(actions)).toEqual({
      AbleToScale: ['True', 'SucceededRescale', 'the HPA controller was able to update the target scale to 4'],
      ScalingActive: ['True', 'ValidMetricFound', `${found} cpu resource utilization (percentage of request)`],
      ScalingLimited: ['False', 'DesiredWithinRange', 'the desired count is within the acceptable range'],
    });
    expect(history.changes).toEqual([{ by: 2, at: START }]);
    expect(actions.at(-1)).toEqual({ type: 'requeueAfter', milliseconds: 15_000 });
  });

  test('with unchanged metrics writes nothing', () => {
    const first = plan(autoscalerWith(), lookAt(2, usage(2, 50)));
    const status = statusIn(first.plan);
    expect(status).toMatchObject({ currentReplicas: 2, desiredReplicas: 2 });
    expect(status.lastScaleTime).toBeUndefined();
    const again = plan(autoscalerWith({}, status), lookAt(2, usage(2, 50)), { history: first.history });
    expect(again.plan).toEqual([{ type: 'requeueAfter', milliseconds: 15_000 }]);
  });

  test('does nothing before the next evaluation', () => {
    expect(plan(autoscalerWith(), 7_000)).toEqual({
      ...{ plan: [{ type: 'requeueAfter', milliseconds: 7_000 }], history: NO_HISTORY },
    });
  });

  test('scales down after five minutes', () => {
    const first = plan(autoscalerWith(), lookAt(6, usage(6, 10)));
    expect(wantedIn(first.plan)).toBeUndefined();
    expect(conditionsIn(first.plan).AbleToScale).toEqual([
      'True',
      'ScaleDownStabilized',
      'recent recommendations were higher than current one, applying the highest recent recommendation',
    ]);
    const history: ScalingHistory = { ...NO_HISTORY, recommendations: [{ replicas: 6, at: START - 300_001 }] };
    const late = plan(autoscalerWith(), lookAt(6, usage(6, 10)), { history });
    expect(wantedIn(late.plan)).toBe(2);
    expect((rescaleIn(late.plan) as any).report.done().message).toBe('New size: 2; reason: All metrics below target');
  });

  test.each<[string, object, number, number, string]>([
    ['too many', { maxReplicas: 5 }, 8, 5, 'Current number of replicas above Spec.MaxReplicas'],
    ['too few', { minReplicas: 3 }, 2, 3, 'Current number of replicas below Spec.MinReplicas'],
  ])('changes %s at once, whatever the metrics say', (_, spec, replicas, wanted, reason) => {
    const { plan: actions } = plan(autoscalerWith(spec), lookAt(replicas));
    expect(wantedIn(actions)).toBe(wanted);
    expect((rescaleIn(actions) as any).report.done().message).toBe(`New size: ${wanted}; reason: ${reason}`);
    expect(statusIn(actions)).toMatchObject({ currentReplicas: replicas, desiredReplicas: wanted });
  });

  test('ignores a target that was scaled to zero', () => {
    const { plan: actions } = plan(autoscalerWith(), lookAt(0));
    expect(wantedIn(actions)).toBeUndefined();
    expect(statusIn(actions)).toMatchObject({ desiredReplicas: 0 });
    expect(conditionsIn(actions)).toEqual({
      AbleToScale: ['True', 'SucceededGetScale', "the HPA controller was able to get the target's current scale"],
      ScalingActive: ['False', 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero'],
    });
  });

  test('reports that it is limited', () => {
    const { plan: actions } = plan(autoscalerWith({ maxReplicas: 3 }), lookAt(2, usage(2, 200)));
    expect(wantedIn(actions)).toBe(3);
    expect(conditionsIn(actions).ScalingLimited).toEqual([
      ...['True', 'TooManyReplicas', 'the desired replica count is more than the maximum replica count'],
    ]);
  });
});

describe('an autoscaler that cannot', () => {
  test('read its target reports why, and keeps the rest of its status', () => {
    const known = autoscalerWith({}, { currentReplicas: 2, desiredReplicas: 2 });
    const why = 'deployments.apps "web" not found';
    const { plan: actions } = plan(known, { target: why, readings: [], rivals: [] });
    expect(eventsIn(actions)).toEqual([`Warning FailedGetScale: ${why}`]);
    expect(statusIn(actions)).toMatchObject({ currentReplicas: 2, desiredReplicas: 2 });
    expect(conditionsIn(actions).AbleToScale).toEqual([
      ...['False', 'FailedGetScale', `the HPA controller was unable to get the target's current scale: ${why}`],
    ]);
  });

  test('read its only metric does nothing, and reports it', () => {
    const { plan: actions } = plan(
      autoscalerWith({}, { desiredReplicas: 2 }),
      lookAt(2, problem('no metrics returned from resource metrics API')),
    );
    const why =
      'failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API';
    expect(eventsIn(actions)).toEqual([
      `Warning FailedGetResourceMetric: ${why}`,
      `Warning FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${why}`,
    ]);
    expect(conditionsIn(actions).ScalingActive).toEqual([
      ...['False', 'FailedGetResourceMetric', `the HPA was unable to compute the replica count: ${why}`],
    ]);
    expect(statusIn(actions)).toMatchObject({ currentReplicas: 2, desiredReplicas: 2, currentMetrics: [{ type: '' }] });
  });

  test.each<[string, object, string]>([
    ['requests nothing', { cpu: undefined }, 'missing request for cpu in container c of Pod p0'],
    ['has no such container', { container: 'other' }, 'container other not found in Pod p0'],
  ])('evaluate a pod that %s reports it', (_, { container, ...requests }: any, why) => {
    const pods = podsOf(1);
    if ('cpu' in requests) pods[0].spec.containers[0].resources = {};
    const { name, target } = cpu.resource;
    const metric = container
      ? { type: 'ContainerResource', containerResource: { name, container, target } }
      : { type: 'Resource', resource: { name, target } };
    const { plan: actions } = plan(autoscalerWith({ metrics: [metric] }), lookAt(1, usage(1, 50)), { pods });
    expect(eventsIn(actions)[0]).toMatch(
      new RegExp(`FailedGet(Container)?ResourceMetric: failed to get cpu utilization: ${why}$`),
    );
  });

  test('has an ambiguous selector does nothing', () => {
    const look = { ...lookAt(2, usage(2, 90)), rivals: [{ name: 'api', selector: 'app in (web, api)' }] };
    const { plan: actions } = plan(autoscalerWith(), look);
    const why = 'pods by selector app=web are controlled by multiple HPAs: [{api shop} {web shop}]';
    expect(wantedIn(actions)).toBeUndefined();
    expect(eventsIn(actions)).toEqual([
      `Warning AmbiguousSelector: ${why}`,
      `Warning FailedComputeMetricsReplicas: ${why}`,
    ]);
    expect(conditionsIn(actions).ScalingActive).toEqual(['False', 'AmbiguousSelector', why]);
  });

  test.each([
    ['', 'SelectorRequired: selector is required', "the HPA target's scale is missing a selector"],
    ['a in', 'InvalidSelector: couldn', "couldn't convert selector into a corresponding internal selector object: "],
  ])('find pods by %j reports it', (selector, event, said) => {
    const { plan: actions } = plan(autoscalerWith(), { ...lookAt(2), target: targetOf(2, selector) });
    expect(eventsIn(actions)[0]).toContain(`Warning ${event}`);
    const [status, reason, message] = conditionsIn(actions).ScalingActive;
    expect([status, reason]).toEqual(['False', 'InvalidSelector']);
    expect(message).toContain(said);
  });

  test('change the size reports it, and forgets that it tried', () => {
    const action = rescaleIn(plan(autoscalerWith(), lookAt(2, usage(2, 90))).plan) as Action;
    const failures = [{ action, error: new ApiError('Forbidden', 'quota') }];
    const history: ScalingHistory = { recommendations: [], changes: [{ by: 2, at: START }] };
    const after = plan(autoscalerWith(), 14_000, { failures, history });
    expect(conditionsIn(after.plan).AbleToScale).toEqual([
      ...['False', 'FailedUpdateScale', 'the HPA controller was unable to update the target scale: quota'],
    ]);
    expect(after.history.changes).toEqual([]);
  });
});

const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '64Mi' } },
};
const mebibytes = (count: number) => count * 1024 * 1024 * 1000;

test('of several metrics the highest proposal wins', () => {
  const look = lookAt(2, usage(2, 60), usage(2, mebibytes(160)));
  const { plan: actions } = plan(autoscalerWith({ metrics: [cpu, memory] }), look);
  expect(wantedIn(actions)).toBe(4);
  expect((rescaleIn(actions) as any).report.done().message).toBe('New size: 4; reason: memory resource above target');
  expect(statusIn(actions).currentMetrics[1]).toEqual({
    ...{ type: 'Resource', resource: { name: 'memory', current: { averageValue: '160Mi' } } },
  });
});

test('of several metrics one that fails prevents scaling down, not scaling up', () => {
  const autoscaler = autoscalerWith({ metrics: [memory, cpu] });
  const history: ScalingHistory = { ...NO_HISTORY, recommendations: [{ replicas: 1, at: START - 1 }] };
  const fewer = plan(autoscaler, lookAt(4, problem('gone'), usage(4, 10)), { history });
  expect(wantedIn(fewer.plan)).toBeUndefined();
  expect(eventsIn(fewer.plan).at(-1)).toContain('invalid metrics (1 invalid out of 2), first error is: failed to get');
  const more = plan(autoscaler, lookAt(2, problem('gone'), usage(2, 90)), { history });
  expect(wantedIn(more.plan)).toBe(4);
  expect(eventsIn(more.plan)).toEqual([
    'Warning FailedGetResourceMetric: failed to get memory usage: unable to get metrics for resource memory: gone',
  ]);
  expect(statusIn(more.plan).currentMetrics).toMatchObject([{ type: '' }, { type: 'Resource' }]);
});

describe('custom and external metrics', () => {
  const metric = { name: 'qps', selector: { matchLabels: { b: '2', a: '1' } } };
  const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'web' };
  const words =
    'qps(&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},})';
  const value = (target: string) => ({ type: 'Value', value: target });
  const average = (target: string) => ({ type: 'AverageValue', averageValue: target });
  const total = (count: number): Reading => ({ type: 'total', value: BigInt(count * 1000) });

  test.each<[string, object, Reading, number, object, string]>([
    [
      'of pods',
      { type: 'Pods', pods: { metric, target: average('10') } },
      usage(2, 20_000),
      4,
      { averageValue: '20' },
      'pods metric qps',
    ],
    [
      'of an object',
      { type: 'Object', object: { metric, describedObject, target: value('10') } },
      total(15),
      3,
      { value: '15' },
      'Service metric qps',
    ],
    [
      'of an object, for each pod',
      { type: 'Object', object: { metric, describedObject, target: average('10') } },
      total(35),
      4,
      { averageValue: '17500m' },
      `external metric ${words}`,
    ],
    [
      'from outside',
      { type: 'External', external: { metric, target: value('10') } },
      total(20),
      4,
      { value: '20' },
      `external metric ${words}`,
    ],
    [
      'from outside, for each pod',
      { type: 'External', external: { metric, target: average('10') } },
      total(30),
      3,
      { averageValue: '15' },
      `external metric ${words}`,
    ],
  ])('%s', (_, spec: any, reading, replicas, current, name) => {
    const { plan: actions } = plan(autoscalerWith({ metrics: [spec] }), lookAt(2, reading));
    expect(wantedIn(actions)).toBe(replicas);
    const [status] = statusIn(actions).currentMetrics;
    expect(Object.values(status).find((part: any) => part.current)).toMatchObject({ metric, current });
    expect(conditionsIn(actions).ScalingActive[2]).toContain(`a replica count from ${name}`);
  });

  test.each<[object, string]>([
    [{ type: 'Pods', pods: { metric, target: average('10') } }, 'FailedGetPodsMetric: unable to get metric qps: gone'],
    [
      { type: 'Object', object: { metric, describedObject, target: value('10') } },
      'FailedGetObjectMetric: unable to get metric qps: Service on shop web/gone',
    ],
    [
      { type: 'External', external: { metric: { name: 'qps' }, target: value('10') } },
      'FailedGetExternalMetric: unable to get external metric shop/qps/nil: gone',
    ],
  ])('%j that cannot be read', (spec, message) => {
    const { plan: actions } = plan(autoscalerWith({ metrics: [spec] }), lookAt(2, problem('gone')));
    expect(eventsIn(actions)[0]).toBe(`Warning ${message}`);
  });
});

const policy = fc.record({
  type: fc.constantFrom('Pods', 'Percent'),
  value: fc.integer({ min: 1, max: 100 }),
  periodSeconds: fc.integer({ min: 15, max: 120 }),
});
const rules = fc.record({
  selectPolicy: fc.constantFrom('Max', 'Min'),
  policies: fc.array(policy, { minLength: 1, maxLength: 2 }),
  stabilizationWindowSeconds: fc.constantFrom(0, 30, 300),
});
const cases = fc.record({
  min: fc.integer({ min: 1, max: 5 }),
  room: fc.nat(60),
  begin: fc.integer({ min: 1, max: 70 }),
  behavior: fc.option(fc.record({ scaleUp: rules, scaleDown: rules }), { nil: undefined }),
  /** Thousandths of a processor, for all pods together. */
  load: fc.nat(5_000),
});

test('whatever the load is the size never leaves its bounds, and converges where the load is at its target', () => {
  forAll({ numRuns: 200 }, cases, ({ min, room, begin, behavior, load }) => {
    const max = min + room;
    const spec = { minReplicas: min, maxReplicas: max, ...(behavior ? { behavior } : {}) };
    let autoscaler = autoscalerWith(spec);
    let history: ScalingHistory = NO_HISTORY;
    let size = begin;
    let rested = 0;
    for (let look = 0; rested < 25; look++) {
      if (look > 5_000) throw new Error('it does not come to rest');
      const now = new Date(START + look * 15_000);
      const found = lookAt(size, usage(size, Math.floor(load / size)));
      const planned = planAutoscaler(autoscaler, { look: found, pods: podsOf(size), history, failures: [] }, now);
      const next = wantedIn(planned.plan) ?? size;
      expect(next).toBeGreaterThanOrEqual(min);
      expect(next).toBeLessThanOrEqual(max);
      if (!behavior && next > size && size >= min) expect(next).toBeLessThanOrEqual(Math.max(2 * size, 4));
      const status = statusIn(planned.plan);
      if (status) autoscaler = autoscalerWith(spec, status);
      rested = next === size ? rested + 1 : 0;
      ({ history } = planned);
      size = next;
    }
    // Pods request 100m and are to use half of that; a tenth more or less is let be.
    const needed = load / 50;
    const clamp = (count: number) => Math.min(max, Math.max(min, count));
    expect(size).toBeGreaterThanOrEqual(clamp(Math.floor(needed / 1.1) - 1));
    expect(size).toBeLessThanOrEqual(clamp(Math.ceil(needed / 0.9) + 1));
  });
});

test('many metrics and many other autoscalers are looked at in many turns', () => {
  const autoscaler = autoscalerWith({ metrics: Array(50).fill(cpu) });
  const look = {
    ...lookAt(3, ...Array<Reading>(50).fill(usage(3, 90))),
    rivals: Array.from({ length: 100 }, (_, index) => ({ name: `r${index}`, selector: `app=r${index}` })),
  };
  const world = { look, pods: podsOf(3), history: NO_HISTORY, failures: [] };
  const now = new Date(START);
  const { value, turns } = countTurns(dividedPlan(autoscaler, { ...world, pace: { isSpent: () => true } }, now));
  expect(turns).toBeGreaterThan(150);
  const alone = planAutoscaler(autoscaler, world, now);
  expect(statusIn(value.plan)).toEqual(statusIn(alone.plan));
  expect([value.history, value.plan.length]).toEqual([alone.history, alone.plan.length]);
});
