import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { LimitRange } from './limit-range.ts';

const range = (...limits: object[]) => ({ metadata: { name: 'l' }, spec: { limits } });
const first = (limit: object) => create(LimitRange, range(limit)).object.spec.limits[0];
const errorsOf = (...limits: object[]) => create(LimitRange, range(...limits)).errors;

describe('what a container gets unasked', () => {
  test('the most it may have is its limit, and its limit its request', () => {
    expect(first({ type: 'Container', max: { cpu: '2' } })).toEqual({
      type: 'Container',
      max: { cpu: '2' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2' },
    });
  });

  test('explicit limits take precedence, resource by resource', () => {
    const limit = {
      type: 'Container',
      max: { cpu: '2', memory: '4Gi' },
      min: { cpu: '100m', 'ephemeral-storage': '1Gi' },
      default: { cpu: '1' },
      defaultRequest: { cpu: '500m' },
    };
    expect(first(limit)).toEqual({
      ...limit,
      default: { cpu: '1', memory: '4Gi' },
      defaultRequest: { cpu: '500m', memory: '4Gi', 'ephemeral-storage': '1Gi' },
    });
  });

  test('nothing follows for other types', () => {
    const limit = { type: 'Pod', max: { cpu: '2' } };
    expect(first(limit)).toEqual(limit);
  });
});

test.each<[string, object[], string[]]>([
  ['in order', [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' } }, { type: 'Pod' }], []],
  [
    'of an unknown type',
    [{ type: 'Node' }, { type: 'example.com/Node' }],
    ['spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified'],
  ],
  ['twice for one type', [{ type: 'Pod' }, { type: 'Pod' }], ['spec.limits[1].type: Duplicate value: "Pod"']],
  [
    'of something that containers do not have',
    [{ type: 'Container', max: { storage: '1' } }],
    ['max', 'default', 'defaultRequest'].map(
      (list) => `spec.limits[0].${list}[storage]: Invalid value: "storage": must be a standard resource for containers`,
    ),
  ],
  [
    'with presets for pods',
    [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
    ],
  ],
  [
    'of claims without an amount',
    [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }],
    [
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
  ],
  [
    'the wrong way round',
    [
      {
        type: 'example.com/x',
        max: { cpu: '1' },
        min: { cpu: '2' },
        default: { cpu: '3' },
        defaultRequest: { cpu: '4' },
      },
    ],
    [
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than default limit value 3',
      'spec.limits[0].default[cpu]: Invalid value: "1": default value 3 is greater than max value 1',
    ],
  ],
  [
    'below the least',
    [{ type: 'example.com/x', min: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  ],
  [
    'with a ratio below one',
    [{ type: 'Pod', maxLimitRequestRatio: { cpu: '900m' } }],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "900m": ratio 900m is less than 1'],
  ],
  [
    'with a ratio that no pod can reach',
    [{ type: 'Pod', max: { cpu: '2' }, min: { cpu: '300m' }, maxLimitRequestRatio: { cpu: '7' } }],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "7": ratio 7 is greater than max/min = 6.666667'],
  ],
  [
    'of what cannot be promised twice',
    [{ type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }],
    [
      'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu',
    ],
  ],
])('limits %s', (_what, limits, errors) => {
  expect(errorsOf(...limits)).toEqual(errors);
});

test('one without a name gets one', () => {
  const { object } = create(LimitRange, { spec: { limits: [] } });
  expect(object.metadata.name).toMatch(/^[-0-9a-f]{36}$/);
  expect(object.spec).toEqual({ limits: [] });
});

test('limits may change', () => {
  const { object } = create(LimitRange, range({ type: 'Pod', max: { cpu: '1' } }));
  expect(update(LimitRange, object, range({ type: 'Pod', max: { cpu: '2' } })).errors).toEqual([]);
});
