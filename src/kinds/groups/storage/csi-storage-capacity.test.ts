import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { CSIStorageCapacity } from './csi-storage-capacity.ts';

const capacity = (parts: object) => ({ metadata: { name: 'c', namespace: 'n' }, storageClassName: 'fast', ...parts });
const nodeTopology = { matchLabels: { zone: 'a' } };

it.each<[string, object, string[]]>([
  ['what is left', { nodeTopology, capacity: '10Gi', maximumVolumeSize: '1Gi' }, []],
  ['nothing left', { capacity: '0' }, []],
  ['less than nothing', { capacity: '-1' }, ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
  [
    'no class',
    { storageClassName: undefined },
    [expect.stringContaining('storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain')],
  ],
  [
    'nodes that nobody understands',
    { nodeTopology: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
    ['nodeTopology.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator'],
  ],
])('a CSIStorageCapacity with %s is validated', (_what, parts, errors) => {
  expect(create(CSIStorageCapacity, capacity(parts)).errors).toEqual(errors);
});

it('a CSIStorageCapacity has an immutable class and topology', () => {
  const { object: old } = create(CSIStorageCapacity, capacity({ nodeTopology, capacity: '10Gi' }));
  expect(update(CSIStorageCapacity, old, capacity({ nodeTopology, capacity: '9Gi' })).errors).toEqual([]);
  expect(update(CSIStorageCapacity, old, capacity({ storageClassName: 'slow' })).errors).toEqual([
    'nodeTopology: Invalid value: null: field is immutable',
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});
