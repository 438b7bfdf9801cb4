import { expect, test } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { Lease } from './lease.ts';

const kind: Kind<any> = Lease;

const lease = (spec?: object) => ({ metadata: { name: 'a' }, spec });

test('a lease without a holder is valid', () => {
  expect(create(kind, lease())).toMatchObject({ object: { spec: {} }, errors: [] });
});

test('times have microseconds', () => {
  const { object, errors } = create(
    kind,
    lease({ holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2030-01-01T00:00:00.123456Z' }),
  );
  expect(errors).toEqual([]);
  expect(object.spec.renewTime).toBe('2030-01-01T00:00:00.123456Z');
});

test.each<[object, string]>([
  [{ leaseDurationSeconds: 0 }, 'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
  [{ leaseTransitions: -1 }, 'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
  [{ strategy: 'Best' }, 'spec.strategy: Unsupported value: "Best": supported values: "OldestEmulationVersion"'],
  [{ preferredHolder: 'you' }, 'spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
])('%j is rejected', (spec, error) => {
  expect(create(kind, lease(spec)).errors).toEqual([error]);
});

test('custom strategies need a domain prefix', () => {
  expect(create(kind, lease({ strategy: 'example.com/best', preferredHolder: 'you' })).errors).toEqual([]);
});

test('an update can create it', () => {
  expect(kind.createOnUpdate).toBe(true);
});
