import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { ControllerRevision } from './controller-revision.ts';

const revision = (parts: object) => ({ metadata: { name: 'r' }, ...parts });

test('data is stored unchanged', () => {
  const data = { spec: { template: { $patch: 'replace', unknown: [1, null] } } };
  const { object, errors } = create(ControllerRevision, revision({ data }));
  expect(errors).toEqual([]);
  expect(object).toMatchObject({ data, revision: 0 });
});

test.each<[object, string[]]>([
  [{ revision: 1 }, ['data: Required value: data is mandatory']],
  [{ data: null }, ['data: Required value: data is mandatory']],
  [{ data: [1] }, ['data: Required value: data must be a valid JSON object']],
  [{ data: {}, revision: -1 }, ['revision: Invalid value: -1: must be greater than or equal to 0']],
])('%j', (parts, errors) => {
  expect(create(ControllerRevision, revision(parts)).errors).toEqual(errors);
});

test('revision can change, data cannot', () => {
  const { object } = create(ControllerRevision, revision({ data: { a: 1 }, revision: 1 }));
  expect(update(ControllerRevision, object, revision({ data: { a: 1 }, revision: 2 })).errors).toEqual([]);
  expect(update(ControllerRevision, object, revision({ data: { a: 2 }, revision: 1 })).errors).toEqual([
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
});
