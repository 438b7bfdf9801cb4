import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { ResourceClaimTemplate } from './resource-claim-template.ts';

const kind: Kind<any> = ResourceClaimTemplate;

const requests = [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }];
const template = (metadata: object = {}, devices: object = { requests }) => ({
  metadata: { name: 't' },
  spec: { metadata, spec: { devices } },
});

test('a template has labels, annotations and a spec', () => {
  const { object, errors } = create(kind, template({ labels: { a: 'b' }, annotations: { a: 'b' } }));
  expect(errors).toEqual([]);
  expect(object.spec.spec.devices.requests[0].exactly).toMatchObject({ allocationMode: 'ExactCount', count: 1 });
});

test('a template has no other metadata, and its spec is validated', () => {
  const metadata = { name: 'x', finalizers: ['a.example/b'], labels: { 'a b': 'c' } };
  expect(create(kind, template(metadata, { requests: [{ name: 'x' }] })).errors).toEqual([
    expect.stringMatching(/^spec\.metadata\.labels: Invalid value: "a b": name part must consist of/),
    'spec.metadata.name: Forbidden: cannot be set',
    'spec.metadata.finalizers: Forbidden: cannot be set',
    'spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
  ]);
});

test('the spec is immutable', () => {
  const { object } = create(kind, template());
  expect(update(kind, object, template()).errors).toEqual([]);
  expect(update(kind, object, template({ labels: { a: 'b' } })).errors).toEqual([
    expect.stringMatching(/^spec: Invalid value: \{.*\}: field is immutable$/),
  ]);
});
