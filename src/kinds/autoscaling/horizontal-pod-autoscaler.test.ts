import { describe, expect, test } from 'vitest';
import type { Kind } from '../kind.ts';
import { create, update } from '../test-object.ts';
import { HorizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

const kind: Kind = HorizontalPodAutoscaler;

const target = { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' };

const autoscaler = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { scaleTargetRef: target, maxReplicas: 3, ...spec },
});

const errorsOf = (spec: object) => create(kind, autoscaler(spec)).errors;

test('at least one pod, and four fifths of the CPU, where nothing is said', () => {
  const { object, errors } = create(kind, autoscaler());
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 80 });
  expect(object.status).toEqual({ currentReplicas: 0, desiredReplicas: 0 });
});

test('other metrics take the place of the CPU', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '[]' };
  const { object } = create(kind, autoscaler({}, { annotations }));
  expect(object.spec).not.toHaveProperty('targetCPUUtilizationPercentage');
});

test.each<[object, string[]]>([
  [
    { maxReplicas: undefined },
    [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    { maxReplicas: -1, minReplicas: 1 },
    [
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
    ],
  ],
  [{ minReplicas: 0 }, ['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1']],
  [{ minReplicas: 4 }, ['spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`']],
  [
    { targetCPUUtilizationPercentage: 0 },
    ['spec.targetCPUUtilizationPercentage: Invalid value: 0: must be greater than 0'],
  ],
  [{ scaleTargetRef: { ...target, kind: '' } }, ['spec.scaleTargetRef.kind: Required value']],
  [
    { scaleTargetRef: { ...target, name: 'a/b' } },
    ['spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\''],
  ],
])('%j', (spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

describe('the target names its group', () => {
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
  ])('%j', (scaleTargetRef, errors) => {
    expect(errorsOf({ scaleTargetRef })).toEqual(errors);
  });

  test('one that was stored without it may stay', () => {
    const body = autoscaler({ scaleTargetRef: { kind: 'Deployment', name: 'a' } });
    const old = create(kind, body).object;
    expect(update(kind, old, body).errors).toEqual([]);
  });
});

test('who scales to zero already may go on', () => {
  const old = create(kind, autoscaler({ minReplicas: 0 })).object;
  expect(update(kind, old, autoscaler({ minReplicas: 0 })).errors).toEqual([]);
});
