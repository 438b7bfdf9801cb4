import { expect, test } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import { Binding } from './binding.ts';

test.each([
  [{ target: { kind: 'Node', name: 'n' } }, []],
  [{ target: { name: 'n' } }, []],
  [{}, ['target.name: Required value']],
  [
    { target: { kind: 'Pod', name: 'n' } },
    ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
  ],
])('binding %j', (fields, errors) => {
  expect(create(Binding, { metadata: { name: 'a' }, ...fields }).errors).toEqual(errors);
});

test('it can only be created', () => {
  expect(Binding.verbs).toEqual(['create']);
});
