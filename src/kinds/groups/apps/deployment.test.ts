import { describe, expect, test } from 'vitest';
import { create, shown, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { Deployment } from './deployment.ts';

const kind: Kind<any> = Deployment;

const VERSIONS = kind.versions.map(({ apiVersion }) => apiVersion);

const pods = (labels: object = { app: 'a' }, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], ...spec },
});

const deployment = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { selector: { matchLabels: { app: 'a' } }, template: pods(), ...spec },
});

describe('defaults belong to the version of the request', () => {
  const rolling = (step: number | string) => ({
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: step, maxSurge: step },
  });

  test.each([
    ['apps/v1', { revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: rolling('25%') }],
    ['apps/v1beta2', { revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: rolling('25%') }],
    ['apps/v1beta1', { revisionHistoryLimit: 2, progressDeadlineSeconds: 600, strategy: rolling('25%') }],
    [
      'extensions/v1beta1',
      { revisionHistoryLimit: 2147483647, progressDeadlineSeconds: 2147483647, strategy: rolling(1) },
    ],
  ])('%s', (apiVersion, expected) => {
    const { object, errors } = create(kind, deployment(), { apiVersion });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({ replicas: 1, ...expected });
    expect(object.status).toEqual({});
  });

  test.each([
    ['apps/v1beta1', true],
    ['extensions/v1beta1', true],
    ['apps/v1', false],
    ['apps/v1beta2', false],
  ])('labels and selector in %s default to those of the template: %s', (apiVersion, follow) => {
    const { object, errors } = create(kind, deployment({ selector: undefined }), { apiVersion });
    expect(object.metadata.labels).toEqual(follow ? { app: 'a' } : undefined);
    expect(object.spec.selector).toEqual(follow ? { matchLabels: { app: 'a' } } : undefined);
    expect(errors.includes('spec.selector: Required value')).toBe(!follow);
  });

  test('existing labels are kept', () => {
    const { object } = create(kind, deployment({}, { labels: { tier: 'x' } }), { apiVersion: 'apps/v1beta1' });
    expect(object.metadata.labels).toEqual({ tier: 'x' });
  });

  test('Recreate gets no rollingUpdate defaults', () => {
    const { object, errors } = create(kind, deployment({ strategy: { type: 'Recreate' } }));
    expect(errors).toEqual([]);
    expect(object.spec.strategy).toEqual({ type: 'Recreate' });
  });

  test('a zero that equals the absent value is omitted', () => {
    const { object } = create(kind, deployment({ minReadySeconds: 0, paused: false, replicas: 0 }));
    expect(object.spec).not.toHaveProperty('minReadySeconds');
    expect(object.spec).not.toHaveProperty('paused');
    expect(object.spec.replicas).toBe(0);
  });
});

describe('errors have the messages of Kubernetes', () => {
  const mismatch = '`selector` does not match template `labels`';
  const percent =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  const strategy = (rollingUpdate: object) => ({ strategy: { rollingUpdate } });

  test.each<[string, object, ...string[]]>([
    ['fewer than no pods', { replicas: -1 }, 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    [
      'an empty selector',
      { selector: {} },
      'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
    ],
    [
      'a selector for other pods',
      { selector: { matchLabels: { app: 'b' } } },
      `spec.template.metadata.labels: Invalid value: {"app":"a"}: ${mismatch}`,
    ],
    [
      'a selector that cannot be understood',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['a'] }] } },
      'spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Like","values":["a"]}]}: invalid label selector',
    ],
    [
      'a rolling update that cannot move',
      strategy({ maxSurge: 0, maxUnavailable: 0 }),
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
    ],
    [
      'the same in percent',
      strategy({ maxSurge: '0%', maxUnavailable: '0%' }),
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ],
    [
      'numbers for a strategy that has none',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'Magic' } },
      'spec.strategy: Unsupported value: {"type":"Magic"}: supported values: "Recreate", "RollingUpdate"',
    ],
    [
      'a text that is no percentage',
      strategy({ maxSurge: 'lots' }),
      `spec.strategy.rollingUpdate.maxSurge: Invalid value: "lots": ${percent}`,
    ],
    [
      'more than all',
      strategy({ maxUnavailable: '101%', maxSurge: '300%' }),
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ],
    [
      'a negative step',
      strategy({ maxSurge: -1 }),
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'a deadline before a pod can be available',
      { minReadySeconds: 600 },
      'spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
    ],
    [
      'pods that end',
      { template: pods(undefined, { restartPolicy: 'Never' }) },
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
    [
      'pods with a deadline',
      { template: pods(undefined, { activeDeadlineSeconds: 5 }) },
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ])('%s', (_, spec, ...errors) => {
    expect(create(kind, deployment(spec)).errors).toEqual(errors);
  });

  test.each(VERSIONS)('an empty object, in %s', (apiVersion) => {
    expect(create(kind, { metadata: { name: 'zz' } }, { apiVersion }).errors).toEqual([
      'spec.selector: Required value',
      `spec.template.metadata.labels: Invalid value: null: ${mismatch}`,
      'spec.template.spec.containers: Required value',
    ]);
  });

  test.each([
    ['soon', 'metadata.annotations[deprecated.deployment.rollback.to]: Invalid value: "soon": must be a whole number'],
    ['-1', 'spec.rollback.version: Invalid value: -1: must be greater than or equal to 0'],
  ])('a rollback to %s', (revision, error) => {
    const body = deployment({}, { annotations: { 'deprecated.deployment.rollback.to': revision } });
    expect(create(kind, body).errors).toEqual([error]);
  });
});

describe('the selector is immutable in the versions in which it is in Kubernetes', () => {
  const { object: old } = create(kind, deployment());
  const other = { matchLabels: { app: 'b' } };

  test.each([
    ['apps/v1', false],
    ['apps/v1beta2', false],
    ['apps/v1beta1', true],
    ['extensions/v1beta1', true],
  ])('the selector in %s may change: %s', (apiVersion, may) => {
    const body = deployment({ selector: other, template: pods({ app: 'b' }) });
    const { errors } = update(kind, old, body, { apiVersion });
    expect(errors).toEqual(
      may ? [] : ['spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable'],
    );
  });

  test('a changed selector that does not match the template gives both errors', () => {
    expect(update(kind, old, deployment({ selector: other })).errors).toEqual([
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
      'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable',
    ]);
  });
});

describe('a status', () => {
  const { object: old } = create(kind, deployment());
  const write = (status: object, before = old) =>
    update(kind, before, { ...deployment(), status }, { subresource: 'status' });

  test('can report a healthy rollout', () => {
    const status = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 };
    expect(write(status)).toMatchObject({ object: { status }, errors: [] });
  });

  test.each<[object, string]>([
    [{ unavailableReplicas: -1 }, 'status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0'],
    [
      { replicas: 1, updatedReplicas: 2 },
      'status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas',
    ],
    [{ readyReplicas: 2 }, 'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'],
    [
      { replicas: 2, availableReplicas: 2 },
      'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
    ],
  ])('%j is rejected', (status, error) => {
    expect(write(status).errors).toEqual([error]);
  });

  test('does not change labels', () => {
    const labelled = { ...deployment(), metadata: { ...deployment().metadata, labels: { via: 'status' } } };
    const { object } = update(kind, old, { ...labelled, status: {} }, { subresource: 'status' });
    expect(object.metadata.labels).toEqual(old.metadata.labels);
  });

  test('never decreases collisionCount', () => {
    const before = write({ collisionCount: 2 }).object;
    expect(write({ collisionCount: 2 }, before).errors).toEqual([]);
    const error = 'status.collisionCount: Invalid value: 1: cannot be decremented';
    expect(write({ collisionCount: 1 }, before).errors).toEqual([error]);
  });
});

test('rollbackTo of an older version is an annotation in newer versions', () => {
  const { object } = create(kind, deployment({ rollbackTo: { revision: 3 } }), { apiVersion: 'apps/v1beta1' });
  expect(object.metadata.annotations).toEqual({ 'deprecated.deployment.rollback.to': '3' });
  expect(object.spec).not.toHaveProperty('rollbackTo');
  expect(shown(kind, object, 'apps/v1beta2').metadata.annotations).toEqual(object.metadata.annotations);
  const old = shown(kind, object, 'extensions/v1beta1');
  expect(old.spec.rollbackTo).toEqual({ revision: 3 });
  expect(old.metadata).not.toHaveProperty('annotations');
});

test('a rollback to the previous revision is shown as an empty rollbackTo', () => {
  const { object } = create(kind, deployment({ rollbackTo: { revision: 0 } }), { apiVersion: 'apps/v1beta1' });
  expect(object.metadata.annotations).toEqual({ 'deprecated.deployment.rollback.to': '0' });
  expect(shown(kind, object, 'apps/v1beta1').spec.rollbackTo).toEqual({});
});

test('a status update keeps the requested rollback', () => {
  const apiVersion = 'apps/v1beta1';
  const { object: old } = create(kind, deployment({ rollbackTo: { revision: 3 } }), { apiVersion });
  const { object } = update(kind, old, deployment(), { apiVersion, subresource: 'status' });
  expect(shown(kind, object, apiVersion).spec.rollbackTo).toEqual({ revision: 3 });
});

test.each(VERSIONS)('a delete in %s orphans dependents by default, but not in apps/v1', (apiVersion) => {
  const version = kind.versions.find((each) => each.apiVersion === apiVersion);
  expect(version?.orphansByDefault).toBe(apiVersion !== 'apps/v1');
});
