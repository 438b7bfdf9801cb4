import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { Namespace } from './namespace.ts';

const labelled = { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n' } };

it('a Namespace is active, labelled with its name and held until it is empty', () => {
  const { object, errors } = create(Namespace, {
    metadata: { name: 'n', labels: { a: 'b' } },
    status: { phase: 'X' },
  });
  expect(errors).toEqual([]);
  expect(object).toEqual({
    metadata: { name: 'n', labels: { a: 'b', 'kubernetes.io/metadata.name': 'n' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
  expect(Namespace.selectable?.['status.phase']?.(object)).toBe('Active');
});

it('a Namespace keeps the finalizers of others', () => {
  const { object } = create(Namespace, { metadata: { name: 'n' }, spec: { finalizers: ['example.com/x'] } });
  expect(object.spec.finalizers).toEqual(['example.com/x', 'kubernetes']);
});

it('a Namespace has finalizers with full names', () => {
  const { errors } = create(Namespace, { metadata: { name: 'n' }, spec: { finalizers: ['mine'] } });
  expect(errors).toEqual([
    'spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

describe('a Namespace that exists', () => {
  const { object: old } = create(Namespace, { metadata: { name: 'n' } });

  it('is not let go by a replace', () => {
    const { object } = update(Namespace, old, { metadata: { name: 'n' }, spec: {} });
    expect(object).toEqual({ ...old, metadata: labelled });
  });

  it('is let go through finalize', () => {
    const { object } = update(Namespace, old, { metadata: { name: 'n' }, spec: {} }, { subresource: 'finalize' });
    expect(object.spec).toEqual({});
  });

  it.each([
    ['Active', undefined, []],
    [
      'Terminating',
      undefined,
      ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
    ],
    ['Terminating', '2026-01-01T00:00:00Z', []],
    [
      'Active',
      '2026-01-01T00:00:00Z',
      ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
    ],
  ])('can be said to be %s when its deletion is %s', (phase, deletionTimestamp, errors) => {
    const sent = { ...old, metadata: { ...labelled, deletionTimestamp }, status: { phase } };
    expect(update(Namespace, old, sent, { subresource: 'status' }).errors).toEqual(errors);
  });
});

it.each([
  ['a-name', false, 0],
  ['a.name', false, 1],
  ['a-', true, 0],
  ['x'.repeat(64), false, 1],
])('a Namespace called %s is judged', (name, prefix, complaints) => {
  expect(Namespace.name?.(name, prefix)).toHaveLength(complaints);
});
