import { describe, expect, test } from 'vitest';
import { create, shown, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { DaemonSet } from './daemon-set.ts';

const kind: Kind<any> = DaemonSet;

const GENERATION = 'deprecated.daemonset.template.generation';
const OLD = 'extensions/v1beta1';

const pods = (labels: object = { app: 'a' }, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }], ...spec },
});

const daemonSet = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { selector: { matchLabels: { app: 'a' } }, template: pods(), ...spec },
});

describe('defaults belong to the version of the request', () => {
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };

  test.each([
    ['apps/v1', rolling],
    ['apps/v1beta2', rolling],
    [OLD, { type: 'OnDelete' }],
  ])('%s', (apiVersion, updateStrategy) => {
    const { object, errors } = create(kind, daemonSet(), { apiVersion });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({ updateStrategy, revisionHistoryLimit: 10 });
    expect(object.status).toEqual({
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    });
  });

  test('labels and selector default to those of the template only in extensions/v1beta1', () => {
    const body = daemonSet({ selector: undefined });
    const { object, errors } = create(kind, body, { apiVersion: OLD });
    expect(errors).toEqual([]);
    expect(object.metadata.labels).toEqual({ app: 'a' });
    expect(object.spec.selector).toEqual({ matchLabels: { app: 'a' } });
    expect(create(kind, body).errors).toEqual([
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ]);
  });
});

describe('an update', () => {
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
  const at = 'spec.updateStrategy.rollingUpdate';

  test.each<[object, string[]]>([
    [rolling({ maxUnavailable: 0, maxSurge: 1 }), []],
    [rolling({ maxUnavailable: '50%' }), []],
    [rolling({ maxUnavailable: 0 }), [`${at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`]],
    [rolling({ maxUnavailable: '0%' }), [`${at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`]],
    [
      rolling({ maxUnavailable: 1, maxSurge: 1 }),
      [`${at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`],
    ],
    [
      rolling({ maxUnavailable: '200%' }),
      [`${at}.maxUnavailable: Invalid value: "200%": must not be greater than 100%`],
    ],
    [{ updateStrategy: { type: 'OnDelete' } }, []],
    [
      { updateStrategy: { type: 'Magic' } },
      ['spec.updateStrategy: Unsupported value: {"type":"Magic"}: supported values: "RollingUpdate", "OnDelete"'],
    ],
  ])('%j', (spec, errors) => {
    expect(create(kind, daemonSet(spec)).errors).toEqual(errors);
  });
});

test.each<[object, string]>([
  [{ selector: {} }, 'spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  [
    { template: pods(undefined, { activeDeadlineSeconds: 5 }) },
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
  ],
  [{ revisionHistoryLimit: -1 }, 'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0'],
])('%j is rejected', (spec, error) => {
  expect(create(kind, daemonSet(spec)).errors).toEqual([error]);
});

test.each([
  ['apps/v1', false],
  ['apps/v1beta2', false],
  [OLD, true],
])('the selector may change in %s: %s', (apiVersion, may) => {
  const old = create(kind, daemonSet()).object;
  const body = daemonSet({ selector: { matchLabels: { app: 'b' } }, template: pods({ app: 'b' }) });
  const error = 'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable';
  expect(update(kind, old, body, { apiVersion }).errors).toEqual(may ? [] : [error]);
});

describe('the template generation', () => {
  const { object: old } = create(kind, daemonSet());

  test('starts at 1, or where the client sets it', () => {
    expect(old.metadata.annotations).toEqual({ [GENERATION]: '1' });
    const started = create(kind, daemonSet({ templateGeneration: 5 }), { apiVersion: OLD }).object;
    expect(started.metadata.annotations).toEqual({ [GENERATION]: '5' });
    const tooLow = create(kind, daemonSet({ templateGeneration: -3 }), { apiVersion: OLD }).object;
    expect(tooLow.metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test.each(['apps/v1', OLD])('grows with changes of the template only, in %s', (apiVersion) => {
    const changed = update(kind, old, daemonSet({ template: pods({ app: 'a', v: '2' }) }), { apiVersion }).object;
    expect(changed.metadata.annotations).toEqual({ [GENERATION]: '2' });
    const same = update(kind, old, daemonSet({ minReadySeconds: 3 }), { apiVersion }).object;
    expect(same.metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test('cannot be changed by a client', () => {
    const byField = update(kind, old, daemonSet({ templateGeneration: 9 }), { apiVersion: OLD }).object;
    expect(byField.metadata.annotations).toEqual({ [GENERATION]: '1' });
    const byAnnotation = update(kind, old, daemonSet({}, { annotations: { [GENERATION]: '9' } })).object;
    expect(byAnnotation.metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test('is not changed by a status update', () => {
    const { object } = update(kind, old, daemonSet({ templateGeneration: 9 }), {
      apiVersion: OLD,
      subresource: 'status',
    });
    expect(object.metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test('is a field in extensions/v1beta1', () => {
    const view = shown(kind, old, OLD);
    expect(view.spec.templateGeneration).toBe(1);
    expect(view.metadata).not.toHaveProperty('annotations');
    expect(shown(kind, old, 'apps/v1beta2').metadata.annotations).toEqual({ [GENERATION]: '1' });
  });

  test('is a number', () => {
    expect(create(kind, daemonSet({}, { annotations: { [GENERATION]: 'x' } })).errors).toEqual([
      `metadata.annotations[${GENERATION}]: Invalid value: "x": must be a whole number`,
    ]);
  });
});

describe.each(['apps/v1beta2', OLD])('an update in %s, which knows no surge', (apiVersion) => {
  const at = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
  const spec = (rollingUpdate: object, type?: string) => ({
    updateStrategy: { ...(type ? { type } : {}), rollingUpdate },
  });

  test.each([
    [spec({ maxUnavailable: 0 })],
    [spec({ maxUnavailable: 0 }, 'RollingUpdate')],
    [spec({ maxUnavailable: 0 }, 'OnDelete')],
    [spec({ maxUnavailable: 0, maxSurge: 1 }, 'RollingUpdate')],
  ])('rejects %j', (changed) => {
    const error = `${at}: Invalid value: 0: cannot be 0`;
    expect(create(kind, daemonSet(changed), { apiVersion }).errors).toEqual([error]);
    const old = create(kind, daemonSet(), { apiVersion }).object;
    expect(update(kind, old, daemonSet(changed), { apiVersion }).errors).toEqual([error]);
  });

  test('rejects no node as a percentage', () => {
    const errors = [`${at}: Invalid value: "0%": cannot be 0`];
    expect(create(kind, daemonSet(spec({ maxUnavailable: '0%' }, 'RollingUpdate')), { apiVersion }).errors).toEqual(
      errors,
    );
  });

  test('keeps a surge that was set in apps/v1', () => {
    const surging = spec({ maxUnavailable: 0, maxSurge: 1 }, 'RollingUpdate');
    const old = create(kind, daemonSet(surging)).object;
    expect(update(kind, old, daemonSet({ ...surging, minReadySeconds: 5 }), { apiVersion }).errors).toEqual([]);
  });
});

test('none unavailable and no surge is invalid whatever the strategy', () => {
  const updateStrategy = { type: 'OnDelete', rollingUpdate: { maxUnavailable: 0 } };
  expect(create(kind, daemonSet({ updateStrategy })).errors).toEqual([
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ]);
});
