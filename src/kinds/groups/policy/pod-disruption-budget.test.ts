import { describe, expect, test } from 'vitest';
import { create, received, shown, update } from '../../../../test/support/kinds/test-object.ts';
import { applyStrategicMergePatch } from '../../../schema/patch/strategic-merge.ts';
import type { Kind } from '../../kind.ts';
import { PodDisruptionBudget } from './pod-disruption-budget.ts';

const kind: Kind<any> = PodDisruptionBudget;
const OLDER = 'policy/v1beta1';
const MARK = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

const budget = (spec: object) => ({ metadata: { name: 'b' }, spec });
const errorsOf = (spec: object) => create(kind, budget(spec)).errors;

test('a new budget has a status of zeros', () => {
  const { object, errors } = create(kind, budget({ minAvailable: 1, selector: { matchLabels: { app: 'a' } } }));
  expect(errors).toEqual([]);
  expect(object.status).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
});

test.each<[object, string[]]>([
  [{ maxUnavailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' }, []],
  [
    { minAvailable: 1, maxUnavailable: 1 },
    ['spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set'],
  ],
  [{ minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
  [{ maxUnavailable: '101%' }, ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%']],
  [
    { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
    ['spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator'],
  ],
  [
    { unhealthyPodEvictionPolicy: 'Never' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
])('%j', (spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

test('the spec is mutable', () => {
  const old = create(kind, budget({ minAvailable: 1, selector: {} })).object;
  expect(update(kind, old, budget({ maxUnavailable: 2, selector: { matchLabels: { a: 'b' } } })).errors).toEqual([]);
});

const none = { matchExpressions: [{ key: MARK, operator: 'Exists' }] };
const all = { matchExpressions: [{ key: MARK, operator: 'DoesNotExist' }] };
const named = { matchLabels: { a: 'b' } };

test.each<[object | undefined, object | undefined]>([
  [{}, none],
  [all, {}],
  [named, named],
  [undefined, undefined],
])('an empty selector: %j in policy/v1beta1 is %j in the stored version, and back', (older, stored) => {
  const { object } = create(kind, budget({ selector: older }), { apiVersion: OLDER });
  expect(object.spec.selector).toEqual(stored);
  expect(shown(kind, object, OLDER).spec.selector).toEqual(older);
});

test.each(['policy/v1', OLDER])('the marker label is dropped beside other labels, in %s', (apiVersion) => {
  const mixed = { ...named, matchExpressions: [...all.matchExpressions, { key: 'x', operator: 'Exists' }] };
  const { object } = create(kind, budget({ selector: mixed }), { apiVersion });
  expect(object.spec.selector).toEqual({ ...named, matchExpressions: [{ key: 'x', operator: 'Exists' }] });
});

test('a patch replaces the selector; in policy/v1beta1 it is merged', () => {
  const patched = (apiVersion: string) => {
    const { schema } = kind.versions.find((version) => version.apiVersion === apiVersion)!;
    const object = received(kind, budget({ selector: { matchLabels: { a: 'b' } } }));
    const patch = { spec: { selector: { matchLabels: { c: 'd' } } } };
    return (applyStrategicMergePatch(schema, object, patch) as any).spec.selector.matchLabels;
  };
  expect(patched('policy/v1')).toEqual({ c: 'd' });
  expect(patched(OLDER)).toEqual({ a: 'b', c: 'd' });
});

describe('the status', () => {
  const old = create(kind, budget({ selector: {} })).object;
  const changed = (status: object, apiVersion = 'policy/v1') =>
    update(kind, old, { ...old, status }, { apiVersion, subresource: 'status' }).errors;

  test('has no negative counters, which policy/v1beta1 does not check', () => {
    const status = { disruptionsAllowed: -1, expectedPods: -2 };
    expect(changed(status)).toEqual([
      'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
      'status.expectedPods: Invalid value: -2: must be greater than or equal to 0',
    ]);
    expect(changed(status, OLDER)).toEqual([]);
  });

  test('must have complete conditions', () => {
    const condition = {
      type: 'DisruptionAllowed',
      status: 'True',
      reason: 'SufficientPods',
      message: '',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    expect(changed({ conditions: [condition] })).toEqual([]);
    expect(
      changed({ conditions: [condition, { ...condition, status: 'Yes', reason: '', lastTransitionTime: null }] }),
    ).toEqual([
      'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
      'status.conditions[1].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
      'status.conditions[1].lastTransitionTime: Required value',
      'status.conditions[1].reason: Required value',
    ]);
    expect(changed({ conditions: [{ ...condition, type: '', reason: '1st' }] })).toEqual([
      'status.conditions[0].type: Invalid value: "": name part must be non-empty',
      expect.stringMatching(/^status\.conditions\[0]\.type: Invalid value: "": name part must consist of/),
      expect.stringMatching(
        /^status\.conditions\[0]\.reason: Invalid value: "1st": a condition reason must start with/,
      ),
    ]);
  });
});
