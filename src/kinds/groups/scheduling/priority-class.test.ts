import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { PriorityClass } from './priority-class.ts';

const priority = (name: string, parts: object) => ({ metadata: { name }, ...parts });
const RESERVED = "Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:";

it('a PriorityClass preempts lower priorities by default', () => {
  expect(create(PriorityClass, priority('a', {}))).toEqual({
    object: priority('a', { value: 0, preemptionPolicy: 'PreemptLowerPriority' }),
    errors: [],
  });
});

it.each<[string, object, string[]]>([
  ['a', { value: 1_000_000_000, globalDefault: true }, []],
  ['a', { value: -2_147_483_648, preemptionPolicy: 'Never' }, []],
  ['a', { value: 1_000_000_001 }, ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000']],
  [
    'a',
    { preemptionPolicy: 'Always' },
    ['preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'],
  ],
  ['system-node-critical', { value: 2_000_001_000 }, []],
  ['system-cluster-critical', { value: 2_000_000_000 }, []],
  [
    'system-cluster-critical',
    { value: 1 },
    [`metadata.name: ${RESERVED} value of system-cluster-critical PriorityClass must be 2000000000`],
  ],
  [
    'system-node-critical',
    { value: 2_000_001_000, globalDefault: true },
    [`metadata.name: ${RESERVED} globalDefault of system-node-critical PriorityClass must be false`],
  ],
  ['system-mine', { value: 1 }, [`metadata.name: ${RESERVED} system-mine is not a known system priority class`]],
])('a PriorityClass called %s with %j is validated', (name, parts, errors) => {
  expect(create(PriorityClass, priority(name, parts)).errors).toEqual(errors);
});

it('a PriorityClass has an immutable value and preemption policy', () => {
  const { object: old } = create(PriorityClass, priority('a', { value: 1 }));
  expect(update(PriorityClass, old, priority('a', { value: 1, description: 'for me' })).errors).toEqual([]);
  expect(update(PriorityClass, old, priority('a', { value: 2, preemptionPolicy: 'Never' })).errors).toEqual([
    'preemptionPolicy: Invalid value: "Never": field is immutable',
    'value: Forbidden: may not be changed in an update.',
  ]);
});
