import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { VolumeAttributesClass } from './volume-attributes-class.ts';

const attributes = (parts: object) => ({
  metadata: { name: 'gold' },
  driverName: 'disks.example.com',
  parameters: { iops: '5000' },
  ...parts,
});

it.each<[string, object, string[]]>([
  ['a driver and its parameters', {}, []],
  [
    'nothing',
    { driverName: undefined, parameters: {} },
    ['driverName: Required value', 'parameters: Required value: must contain at least one key/value pair'],
  ],
])('a VolumeAttributesClass with %s is validated', (_what, parts, errors) => {
  expect(create(VolumeAttributesClass, attributes(parts)).errors).toEqual(errors);
});

it('a VolumeAttributesClass is immutable', () => {
  const { object: old } = create(VolumeAttributesClass, attributes({}));
  expect(update(VolumeAttributesClass, old, attributes({})).errors).toEqual([]);
  const changed = attributes({ driverName: 'b.example.com', parameters: { iops: '1' } });
  expect(update(VolumeAttributesClass, old, changed).errors).toEqual([
    'driverName: Forbidden: updates to driverName are forbidden.',
    'parameters: Forbidden: updates to parameters are forbidden.',
  ]);
});
