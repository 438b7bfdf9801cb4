import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { DeviceClass } from './device-class.ts';

const kind: Kind<any> = DeviceClass;

const deviceClass = (spec: object) => ({ metadata: { name: 'gpu.example.com' }, spec });
const selector = { cel: { expression: 'device.driver == "gpu.example.com"' } };

test.each<[object, string[]]>([
  [{}, []],
  [
    {
      selectors: [selector],
      config: [{ opaque: { driver: 'd', parameters: {} } }],
      extendedResourceName: 'example.com/gpu',
    },
    [],
  ],
  [{ selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
  [
    { selectors: [{ cel: {} }] },
    ['spec.selectors[0].cel.expression: Invalid value: "": compilation failed: the expression is empty'],
  ],
  [{ config: [{}] }, ['spec.config[0].opaque: Required value']],
  [
    { extendedResourceName: 'cpu' },
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
])('%j', (spec, errors) => {
  expect(create(kind, deviceClass(spec)).errors).toEqual(errors);
});

test('parameters stored before the limit existed stay valid', () => {
  const config = [{ opaque: { driver: 'd', parameters: { a: 'x'.repeat(20_000) } } }];
  const outcome = create(kind, deviceClass({ config }));
  expect(outcome.errors).toEqual(['spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes']);
  expect(update(kind, outcome.object, deviceClass({ config, selectors: [selector] })).errors).toEqual([]);
});
