import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { HorizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

const kind: Kind<any> = HorizontalPodAutoscaler;

const target = { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' };

const autoscaler = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { scaleTargetRef: target, maxReplicas: 3, ...spec },
});

const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const queue = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } },
};

const errorsOf = (spec: object) => create(kind, autoscaler(spec)).errors;
const errorsOfMetric = (metric: object) => errorsOf({ metrics: [metric] });

test('defaults: one replica, and a CPU utilization of 80 percent', () => {
  const { object, errors } = create(kind, autoscaler());
  expect(errors).toEqual([]);
  expect(object.spec).toEqual({ scaleTargetRef: target, minReplicas: 1, maxReplicas: 3, metrics: [cpu(80)] });
  expect(object.status).toEqual({ desiredReplicas: 0 });
});

test('defaults: no behavior; a partial one is completed', () => {
  expect(create(kind, autoscaler()).object.spec).not.toHaveProperty('behavior');
  const { behavior } = create(kind, autoscaler({ behavior: { scaleDown: { selectPolicy: 'Disabled' } } })).object.spec;
  expect(behavior).toEqual({
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: { selectPolicy: 'Disabled', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
  });
});

test.each<[object, ...string[]]>([
  [
    { maxReplicas: undefined },
    'spec.maxReplicas: Required value: must be set and greater than 0',
    'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
  ],
  [
    { maxReplicas: -1, minReplicas: 1 },
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
  ],
  [{ minReplicas: -1 }, 'spec.minReplicas: Invalid value: -1: must be greater than or equal to 1'],
  [{ minReplicas: 4 }, 'spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
  [{ scaleTargetRef: { ...target, kind: '' } }, 'spec.scaleTargetRef.kind: Required value'],
  [
    { scaleTargetRef: { ...target, name: 'a/b' } },
    'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  [
    {
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          selectPolicy: 'Most',
          policies: [{ type: 'Cores', value: 0, periodSeconds: 1801 }],
          tolerance: '-0.1',
        },
        scaleDown: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Pods', value: 1 }] },
      },
    },
    'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
    'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Most": supported values: "Disabled", "Max", "Min"',
    'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Cores": supported values: "Percent", "Pods"',
    'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
    'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    'spec.behavior.scaleUp.tolerance: Invalid value: "-100m": must be greater than or equal to 0',
    'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
    'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than zero',
  ],
])('%j', (spec, ...errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

const types = 'Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"';
const ofObject = (object: object) => ({
  type: 'Object',
  object: { describedObject: target, metric: { name: 'm' }, target: { type: 'Value', value: '1' }, ...object },
});
const ofContainer = (containerResource: object) => ({
  type: 'ContainerResource',
  containerResource: {
    name: 'cpu',
    container: 'c',
    target: { type: 'Utilization', averageUtilization: 50 },
    ...containerResource,
  },
});

test.each<[object, string[]]>([
  [cpu(50), []],
  [queue, []],
  [ofObject({}), []],
  [ofContainer({}), []],
  [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } }, []],
  [{}, ['spec.metrics[0].type: Required value: must specify a metric source type', `spec.metrics[0].type: ${types}`]],
  [
    { type: 'Pods', resource: cpu(1).resource },
    ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
  ],
  [
    { ...cpu(1), external: queue.external },
    ['spec.metrics[0].external: Forbidden: must populate the given metric source only'],
  ],
  [cpu(0), ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0']],
  [
    { type: 'Resource', resource: {} },
    [
      'spec.metrics[0].resource.name: Required value: must specify a resource name',
      'spec.metrics[0].resource.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
    ],
  ],
  [
    {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Value', averageUtilization: 1, averageValue: '0' } },
    },
    [
      'spec.metrics[0].resource.target.averageValue: Invalid value: "0": must be positive',
      'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
    ],
  ],
  [
    { type: 'External', external: { metric: { name: 'm/n' }, target: { type: 'Value' } } },
    [
      'spec.metrics[0].external.metric.name: Invalid value: "m/n": may not contain \'/\'',
      'spec.metrics[0].external.target.averageValue: Required value: must set either a target value for metric or a per-pod target',
    ],
  ],
  [
    {
      type: 'External',
      external: { metric: { name: 'm' }, target: { type: 'Value', value: '1', averageValue: '1' } },
    },
    [
      'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
    ],
  ],
  [
    { type: 'Pods', pods: { metric: {}, target: { type: 'Value', value: '1' } } },
    [
      'spec.metrics[0].pods.metric.name: Required value: must specify a metric name',
      'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
    ],
  ],
  [
    ofObject({ describedObject: { kind: 'Service', apiVersion: 'a/b/c' }, target: { type: 'Value' } }),
    [
      'spec.metrics[0].object.describedObject.name: Required value',
      'spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue',
    ],
  ],
  [
    ofContainer({ name: 'storage', container: 'C' }),
    [
      'spec.metrics[0].containerResource.name: Invalid value: "storage": must be a standard resource for containers',
      expect.stringMatching(/^spec\.metrics\[0]\.containerResource\.container: Invalid value: "C": a lowercase/),
    ],
  ],
])('a metric: %j', (metric, errors) => {
  expect(errorsOfMetric(metric)).toEqual(errors);
});

test('a metric of an object with a malformed apiVersion stays valid if it was stored', () => {
  const body = autoscaler({ metrics: [ofObject({ describedObject: { ...target, apiVersion: 'a/b/c' } })] });
  const old = create(kind, body).object;
  expect(update(kind, old, body).errors).toEqual([]);
});

const missing = 'apiVersion must specify API group';

test.each<[object, string[]]>([
  [{ kind: 'Deployment', name: 'a' }, [`spec.scaleTargetRef.apiVersion: Invalid value: "": ${missing}`]],
  [
    { kind: 'Deployment', name: 'a', apiVersion: 'v1' },
    [`spec.scaleTargetRef.apiVersion: Invalid value: "v1": ${missing}`],
  ],
  [
    { kind: 'Deployment', name: 'a', apiVersion: 'a/b/c' },
    ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  [{ kind: 'ReplicationController', name: 'a', apiVersion: 'v1' }, []],
  [{ kind: 'ReplicationController', name: 'a' }, []],
])('the apiVersion of the target needs a group: %j', (scaleTargetRef, errors) => {
  expect(errorsOf({ scaleTargetRef })).toEqual(errors);
});

test('a target stored without a group stays valid', () => {
  const body = autoscaler({ scaleTargetRef: { kind: 'Deployment', name: 'a' } });
  const old = create(kind, body).object;
  expect(update(kind, old, body).errors).toEqual([]);
});

test('stored minReplicas of 0 stay valid with an Object or External metric', () => {
  const none = autoscaler({ minReplicas: 0, metrics: [queue] });
  expect(create(kind, none).errors).toEqual(['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1']);
  const old = create(kind, none).object;
  expect(update(kind, old, none).errors).toEqual([]);
  expect(update(kind, old, autoscaler({ minReplicas: 0 })).errors).toEqual([
    'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
  ]);
});

test('annotations of autoscaling/v1 are not stored', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '[]', own: 'x' };
  const { object } = create(kind, autoscaler({}, { annotations }));
  expect(object.metadata.annotations).toEqual({ own: 'x' });
});
