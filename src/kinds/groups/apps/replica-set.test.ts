import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { ReplicaSet } from './replica-set.ts';

const kind: Kind<any> = ReplicaSet;

const pods = (labels: object = { app: 'a' }, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], ...spec },
});

const replicaSet = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { selector: { matchLabels: { app: 'a' } }, template: pods(), ...spec },
});

test('defaults to one replica, with an empty status', () => {
  const { object, errors } = create(kind, replicaSet());
  expect(errors).toEqual([]);
  expect(object.spec.replicas).toBe(1);
  expect(object.status).toEqual({ replicas: 0 });
});

describe.each(['extensions/v1beta1', 'apps/v1beta2', 'apps/v1'])('empty labels in %s', (apiVersion) => {
  test.each([{}, { labels: {} }, { labels: null }])('default to those of the template: %j', (metadata) => {
    const { object, errors } = create(kind, replicaSet({}, metadata), { apiVersion });
    expect([object.metadata.labels, errors]).toEqual([{ app: 'a' }, []]);
  });

  test('default to them in a replace, too', () => {
    const old = create(kind, replicaSet({}, { labels: { tier: 'x' } }), { apiVersion }).object;
    expect(old.metadata.labels).toEqual({ tier: 'x' });
    expect(update(kind, old, replicaSet(), { apiVersion }).object.metadata.labels).toEqual({ app: 'a' });
  });
});

test.each([
  ['extensions/v1beta1', { matchLabels: { app: 'a' } }],
  ['apps/v1beta2', undefined],
  ['apps/v1', undefined],
])('the selector defaults to the labels of the template only in extensions/v1beta1: %s', (apiVersion, selector) => {
  const { object, errors } = create(kind, replicaSet({ selector: undefined }), { apiVersion });
  expect(object.spec.selector).toEqual(selector);
  expect(errors[0]).toBe(selector ? undefined : 'spec.selector: Required value');
});

test.each<[object, string]>([
  [{ replicas: -2 }, 'spec.replicas: Invalid value: -2: must be greater than or equal to 0'],
  [{ minReadySeconds: -1 }, 'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0'],
  [{ selector: {} }, 'spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  [
    { selector: { matchLabels: { app: 'b' } } },
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  [
    { template: pods(undefined, { restartPolicy: 'OnFailure' }) },
    'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
  ],
])('%j is rejected', (spec, error) => {
  expect(create(kind, replicaSet(spec)).errors).toEqual([error]);
});

test.each([
  ['apps/v1', false],
  ['apps/v1beta2', false],
  ['extensions/v1beta1', true],
])('the selector may change in %s: %s', (apiVersion, may) => {
  const old = create(kind, replicaSet()).object;
  const body = replicaSet({ selector: { matchLabels: { app: 'b' } }, template: pods({ app: 'b' }) });
  const error = 'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable';
  expect(update(kind, old, body, { apiVersion }).errors).toEqual(may ? [] : [error]);
});

test('fullyLabeledReplicas cannot exceed replicas', () => {
  const old = create(kind, replicaSet()).object;
  const body = { ...replicaSet(), status: { replicas: 1, fullyLabeledReplicas: 2 } };
  expect(update(kind, old, body, { subresource: 'status' }).errors).toEqual([
    'status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ]);
});

test('status.replicas is a field selector', () => {
  expect(kind.selectable?.['status.replicas']?.({ status: { replicas: 3 } })).toBe('3');
});
