import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { RuntimeClass } from './runtime-class.ts';

const runtime = (parts: object) => ({ metadata: { name: 'sandboxed' }, handler: 'gvisor', ...parts });
const toleration = { key: 'sandbox', operator: 'Exists', tolerationSeconds: 3, effect: 'NoExecute' };

it.each<[string, object, string[]]>([
  ['a handler', {}, []],
  [
    'what it costs and where it is',
    {
      overhead: { podFixed: { cpu: '100m', memory: '64Mi' } },
      scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [toleration] },
    },
    [],
  ],
  ['no handler', { handler: '' }, ['handler: Required value']],
  ['a handler that is no label', { handler: 'a.b' }, ['handler: Invalid value: "a.b": must not contain dots']],
  [
    'costs below zero',
    { overhead: { podFixed: { cpu: '-1', money: '1' } } },
    [
      'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'overhead.limits[money]: Invalid value: "money": must be a standard resource type or fully qualified',
      'overhead.limits[money]: Invalid value: "money": must be a standard resource for containers',
    ],
  ],
  [
    'the same toleration twice',
    { scheduling: { tolerations: [toleration, { ...toleration, tolerationSeconds: 4 }] } },
    [
      'scheduling.tolerations[1]: Duplicate value: {"Key":"sandbox","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":4}',
    ],
  ],
  [
    'labels that are none',
    { scheduling: { nodeSelector: { a: 'b c' } } },
    [expect.stringContaining('scheduling.nodeSelector: Invalid value: "b c": a valid label must be')],
  ],
])('a RuntimeClass with %s is validated', (_what, parts, errors) => {
  expect(create(RuntimeClass, runtime(parts)).errors).toEqual(errors);
});

it('a RuntimeClass has an immutable handler, and can be created by an update', () => {
  const { object: old } = create(RuntimeClass, runtime({}));
  expect(update(RuntimeClass, old, runtime({ handler: 'kata' })).errors).toEqual([
    'handler: Invalid value: "kata": field is immutable',
  ]);
  expect(RuntimeClass.createOnUpdate).toBe(true);
});
