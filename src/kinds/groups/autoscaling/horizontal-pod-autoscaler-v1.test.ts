import { describe, expect, test } from 'vitest';
import { create, received, shown } from '../../../../test/support/kinds/test-object.ts';
import { fc, forAll, propertyRuns } from '../../../../test/support/property-runs.ts';
import { clone } from '../../../base/json/tree.ts';
import { decode } from '../../../schema/decode/decode.ts';
import type { Kind } from '../../kind.ts';
import { HorizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

const kind: Kind<any> = HorizontalPodAutoscaler;
const V1 = 'autoscaling/v1';
const KEY = 'autoscaling.alpha.kubernetes.io';

const target = { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' };
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
};

const stored = (spec: object, status: object = {}) =>
  decode(kind.hub.schema, {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: { name: 'a' },
    spec: { scaleTargetRef: target, maxReplicas: 3, ...spec },
    status,
  });
const seen = (spec: object, status?: object) => shown(kind, stored(spec, status), V1);
const sent = (spec: object, annotations: object = {}, status: object = {}) => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: V1,
  metadata: { name: 'a', annotations },
  spec: { scaleTargetRef: target, maxReplicas: 3, ...spec },
  status,
});

describe('an autoscaler written in autoscaling/v1', () => {
  test('with a CPU target gets it as its metric', () => {
    const { object, errors } = create(kind, sent({ targetCPUUtilizationPercentage: 50 }), { apiVersion: V1 });
    expect(errors).toEqual([]);
    expect(object.spec).toEqual({ scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, metrics: [cpu(50)] });
  });

  test('without a target gets a CPU utilization of 80 percent', () => {
    expect(received(kind, sent({}), V1).spec.metrics).toEqual([cpu(80)]);
    expect(received(kind, { metadata: { name: 'a' } }, V1).spec.metrics).toEqual([cpu(80)]);
  });

  test('with other metrics gets those, and CPU only if it has a target', () => {
    const annotations = {
      [`${KEY}/metrics`]: '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
    };
    expect(received(kind, sent({}, annotations), V1).spec.metrics).toEqual([memory]);
    const both = received(kind, sent({ targetCPUUtilizationPercentage: 50 }, annotations), V1);
    expect(both.spec.metrics).toEqual([memory, cpu(50)]);
    expect(both.metadata).toEqual({ name: 'a' });
  });

  test('gets the errors of the stored version', () => {
    const { errors } = create(kind, sent({ targetCPUUtilizationPercentage: 0 }), { apiVersion: V1 });
    expect(errors).toEqual([
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
    ]);
  });

  test.each(['{', '[1]', '7', '{}', '[]', 'null', '[{"type":1}]', `${'['.repeat(1e5)}${']'.repeat(1e5)}`])(
    'ignores annotations that mean nothing, case %#',
    (text) => {
      const keys = ['metrics', 'v2-metrics', 'current-metrics', 'v2-current-metrics', 'conditions', 'behavior'];
      const annotations = Object.fromEntries(keys.map((key) => [`${KEY}/${key}`, text]));
      const object = received(kind, sent({}, annotations), V1);
      expect(object.spec).toEqual({ scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, metrics: [cpu(80)] });
      expect(object.status).toEqual({ desiredReplicas: 0 });
      expect(object.metadata).toEqual({ name: 'a' });
    },
  );
});

describe('an autoscaler read in autoscaling/v1', () => {
  test('has CPU utilization in a field, and no annotations', () => {
    const object = seen({ metrics: [cpu(50)] }, { currentReplicas: 1, desiredReplicas: 2 });
    expect(object).toEqual({
      kind: 'HorizontalPodAutoscaler',
      apiVersion: V1,
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
      status: { currentReplicas: 1, desiredReplicas: 2 },
    });
  });

  test('has other metrics in an annotation, in the older form', () => {
    const selector = { matchLabels: { a: 'b' } };
    const metrics = [
      { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '7' } } },
      {
        type: 'Object',
        object: { describedObject: target, metric: { name: 'm', selector }, target: { type: 'Value', value: '5' } },
      },
      { type: 'External', external: { metric: { name: 'm', selector }, target: { type: 'Value', value: '5' } } },
      { type: 'ContainerResource', containerResource: { ...memory.resource, container: 'c' } },
      cpu(50),
    ];
    const { metadata, spec } = seen({ metrics });
    expect(spec.targetCPUUtilizationPercentage).toBe(50);
    expect(Object.keys(metadata.annotations)).toEqual([`${KEY}/metrics`]);
    expect(JSON.parse(metadata.annotations[`${KEY}/metrics`])).toEqual([
      { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '7' } },
      { type: 'Object', object: { target, metricName: 'm', targetValue: '5', selector } },
      { type: 'External', external: { metricName: 'm', metricSelector: selector, targetValue: '5' } },
      { type: 'ContainerResource', containerResource: { name: 'memory', targetAverageValue: '1Gi', container: 'c' } },
    ]);
  });

  test('has current metrics, conditions and behavior in annotations', () => {
    const condition = { type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z' };
    const current = { averageUtilization: 40, averageValue: '400m' };
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current } }];
    const { metadata, status } = seen({ behavior: {} }, { currentMetrics, conditions: [condition] });
    expect(status).toEqual({ currentReplicas: 0, desiredReplicas: 0, currentCPUUtilizationPercentage: 40 });
    const of = (key: string) => JSON.parse(metadata.annotations[`${KEY}/${key}`]);
    expect(of('current-metrics')).toEqual([
      { type: 'Resource', resource: { name: 'cpu', currentAverageUtilization: 40, currentAverageValue: '400m' } },
    ]);
    expect(of('conditions')).toEqual([condition]);
    expect(of('behavior').ScaleDown).toEqual({
      SelectPolicy: 'Max',
      Policies: [{ Type: 'Percent', Value: 100, PeriodSeconds: 15 }],
    });
  });
});

describe('what the older form cannot express', () => {
  const metrics = [cpu(50), memory, cpu(60)];
  const object = seen({ metrics });

  test('round-trips unchanged', () => {
    expect(received(kind, object, V1).spec.metrics).toEqual(metrics);
  });

  test.each<[string, (changed: any) => void, unknown[]]>([
    ['the field', ({ spec }) => (spec.targetCPUUtilizationPercentage = 70), [memory, cpu(70)]],
    ['the absence of the field', ({ spec }) => delete spec.targetCPUUtilizationPercentage, [memory]],
    ['the annotation', ({ metadata }) => delete metadata.annotations[`${KEY}/metrics`], [cpu(50)]],
  ])('is replaced when a client changes %s', (_what, change, expected) => {
    const changed = clone(object);
    change(changed);
    expect(received(kind, changed, V1).spec.metrics).toEqual(expected);
  });
});

const amount = fc.constantFrom('0', '1', '100m', '1Gi', '2k');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const name = fc.constantFrom('cpu', 'memory', '', 'm');
const metric = fc.record({
  name,
  selector: maybe(
    fc.constantFrom({}, { matchLabels: { a: 'b' } }, { matchExpressions: [{ key: 'a', operator: 'In' }] }),
  ),
});
const wanted = fc.record({
  type: fc.constantFrom('Utilization', 'Value', 'AverageValue', ''),
  value: maybe(amount),
  averageValue: maybe(amount),
  averageUtilization: maybe(fc.nat(200)),
});
const found = fc.record({ value: maybe(amount), averageValue: maybe(amount), averageUtilization: maybe(fc.nat(200)) });
const metrics = (side: 'target' | 'current', value: fc.Arbitrary<object>) =>
  fc.array(
    fc.record({
      type: fc.constantFrom('Resource', 'Pods', 'Object', 'External', 'ContainerResource', 'Odd'),
      resource: maybe(fc.record({ name, [side]: value })),
      pods: maybe(fc.record({ metric, [side]: value })),
      object: maybe(fc.record({ describedObject: fc.constant(target), metric, [side]: value })),
      external: maybe(fc.record({ metric, [side]: value })),
      containerResource: maybe(fc.record({ name, container: name, [side]: value })),
    }),
    { maxLength: 3 },
  );
const policies = fc.array(fc.record({ type: name, value: fc.nat(9), periodSeconds: fc.nat(9) }), { maxLength: 2 });
const scaling = fc.record({
  stabilizationWindowSeconds: maybe(fc.nat(4000)),
  selectPolicy: maybe(fc.constantFrom('Min', 'Max', 'Disabled', 'Odd')),
  policies: maybe(policies),
  tolerance: maybe(amount),
});
const anyStored = fc
  .record({
    spec: fc.record({
      metrics: metrics('target', wanted),
      behavior: maybe(fc.record({ scaleUp: maybe(scaling), scaleDown: maybe(scaling) })),
    }),
    status: fc.record({
      currentReplicas: maybe(fc.nat(3)),
      currentMetrics: metrics('current', found),
      conditions: fc.array(fc.record({ type: name, status: name, reason: maybe(name) }), { maxLength: 2 }),
    }),
  })
  .map(({ spec, status }) => stored(spec, status));

test('a stored object round-trips without loss', () => {
  forAll({ numRuns: propertyRuns(150) }, anyStored, (object) => {
    const view = JSON.parse(JSON.stringify(shown(kind, object, V1)));
    expect(received(kind, view, V1)).toStrictEqual(object);
  });
});

test('a shown object is the same after it was stored again', () => {
  forAll({ numRuns: propertyRuns(60) }, anyStored, (object) => {
    const view = decode(kind.versions[1]!.schema, shown(kind, object, V1));
    expect(shown(kind, received(kind, view, V1), V1)).toEqual(view);
  });
});
