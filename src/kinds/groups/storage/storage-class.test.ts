import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { StorageClass } from './storage-class.ts';

const provisioner = 'example.com/Disks';
const storageClass = (parts: object) => ({ metadata: { name: 'fast' }, provisioner, ...parts });
const zones = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] });

it('a StorageClass deletes volumes and binds them immediately by default', () => {
  expect(create(StorageClass, storageClass({}))).toEqual({
    object: storageClass({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
    errors: [],
  });
});

it.each<[string, object, string[]]>([
  ['parameters', { parameters: { type: 'ssd', '': '' } }, ['parameters: Invalid value: "": field can not be empty.']],
  ['no provisioner', { provisioner: '' }, ['provisioner: Required value']],
  [
    'a provisioner that is none',
    { provisioner: 'A B' },
    [expect.stringContaining('provisioner: Invalid value: "a b": name part must consist of')],
  ],
  [
    'many parameters',
    { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, ''])) },
    ['parameters: Too long: may not be more than 512 bytes'],
  ],
  [
    'large parameters',
    { parameters: { a: 'x'.repeat(256 * 1024) } },
    ['parameters: Too long: may not be more than 262144 bytes'],
  ],
  [
    'another policy',
    { reclaimPolicy: 'Recycle' },
    ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
  ],
  [
    'another mode',
    { volumeBindingMode: 'Later' },
    ['volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  ['places', { allowedTopologies: [zones('a', 'b'), zones('c')] }, []],
  [
    'the same places twice',
    { allowedTopologies: [zones('a', 'b'), zones('b', 'a')] },
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  ['no places', { allowedTopologies: [{}] }, ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""']],
  [
    'places that say nothing',
    { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone' }, { key: 'zone', values: ['a', 'a'] }] }] },
    [
      'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
      'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "a"',
      'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"',
    ],
  ],
])('a StorageClass with %s is validated', (_what, parts, errors) => {
  expect(create(StorageClass, storageClass(parts)).errors).toEqual(errors);
});

it('a StorageClass has immutable provisioner settings', () => {
  const { object: old } = create(StorageClass, storageClass({ parameters: { type: 'ssd' } }));
  const changed = { provisioner: 'b.io/x', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' };
  expect(update(StorageClass, old, storageClass({ ...changed, allowVolumeExpansion: true })).errors).toEqual([
    'provisioner: Invalid value: "b.io/x": field is immutable',
    'parameters: Invalid value: null: field is immutable',
    'reclaimPolicy: Invalid value: "Retain": field is immutable',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ]);
});
