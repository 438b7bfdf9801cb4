import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { validate } from '../../../schema/validate.ts';
import { scaleShapeOf } from './scale.ts';

const OLDER = ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1'];
const labels = { matchLabels: { b: '2', a: '1' } };
const mixed = { matchLabels: { a: '1' }, matchExpressions: [{ key: 'b', operator: 'In', values: ['y', 'x'] }] };

test.each(['apps/v1', 'v1', 'batch/v1', 'example.com/v1'])(
  'a workload of %s has the Scale of autoscaling',
  (version) => {
    expect(scaleShapeOf(version).apiVersion).toBe('autoscaling/v1');
  },
);

test.each(OLDER)('workloads in %s have their own Scale', (version) => {
  expect(scaleShapeOf(version).apiVersion).toBe(version);
});

test('the selector is a string', () => {
  const { status } = scaleShapeOf('apps/v1');
  expect(status(2, labels)).toEqual({ replicas: 2, selector: 'a=1,b=2' });
  expect(status(2, { app: 'a' })).toEqual({ replicas: 2, selector: 'app=a' });
  expect(status(0, undefined)).toEqual({ replicas: 0 });
});

test.each(OLDER)('the selector in %s is also shown as labels, if equality is enough', (version) => {
  const { status } = scaleShapeOf(version);
  expect(status(2, labels)).toEqual({ replicas: 2, selector: { a: '1', b: '2' }, targetSelector: 'a=1,b=2' });
  expect(status(2, mixed)).toEqual({ replicas: 2, targetSelector: 'a=1,b in (x,y)' });
  expect(status(2, { app: 'a' })).toEqual({ replicas: 2, selector: { app: 'a' }, targetSelector: 'app=a' });
  expect(status(0, undefined)).toEqual({ replicas: 0 });
});

test.each(['autoscaling/v1', ...OLDER])('%s: replicas cannot be negative, and absent means 0', (apiVersion) => {
  const { schema } = scaleShapeOf(apiVersion);
  const read = (replicas?: number) => decode(schema, { apiVersion, kind: 'Scale', spec: { replicas } });
  const context = { operation: 'update', old: undefined, subresource: 'scale', apiVersion } as const;
  expect(read().spec).toEqual({});
  expect(read(0).spec).toEqual({});
  expect(read(3).spec).toEqual({ replicas: 3 });
  expect(validate(schema, read(-3), context)).toMatchObject([
    { field: 'spec.replicas', message: 'Invalid value: -3: must be greater than or equal to 0' },
  ]);
});
