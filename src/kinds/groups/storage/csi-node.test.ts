import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { CSINode } from './csi-node.ts';

const node = (...drivers: object[]) => ({ metadata: { name: 'node-1' }, spec: { drivers } });
const driver = { name: 'disks.example.com', nodeID: 'i-1', topologyKeys: ['zone'] };

it('a CSINode always has a list of drivers', () => {
  expect(create(CSINode, { metadata: { name: 'node-1' } })).toEqual({ object: node(), errors: [] });
});

it.each<[string, object[], string[]]>([
  ['drivers', [driver, { ...driver, name: 'Files.example.com', allocatable: { count: 0 } }], []],
  ['nobody', [{}], ['spec.drivers[0].name: Required value', 'spec.drivers[0].nodeID: Required value']],
  [
    'long names',
    [{ name: 'a'.repeat(64), nodeID: 'x'.repeat(257) }],
    [
      'spec.drivers[0].name: Too long: may not be more than 63 bytes',
      expect.stringMatching(/^spec\.drivers\[0\]\.nodeID: Invalid value: "x+": must be 256 characters or less$/),
    ],
  ],
  ['one twice', [driver, driver], ['spec.drivers[1].name: Duplicate value: "disks.example.com"']],
  [
    'fewer than no volumes',
    [{ ...driver, allocatable: { count: -1 } }],
    ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'keys that are none',
    [{ ...driver, topologyKeys: ['zone', 'zone', ''] }],
    [
      'spec.drivers[0]: Duplicate value: "zone"',
      'spec.drivers[0]: Required value',
      'spec.drivers[0]: Invalid value: "": name part must be non-empty',
      expect.stringContaining('spec.drivers[0]: Invalid value: "": name part must consist of'),
    ],
  ],
])('a CSINode with %s is validated', (_what, drivers, errors) => {
  expect(create(CSINode, node(...drivers)).errors).toEqual(errors);
});

it.each<[string, object[], ...string[]]>([
  ['may learn how much it takes', [{ ...driver, allocatable: { count: 3 } }]],
  ['may lose a driver', []],
  ['may get another', [driver, { ...driver, name: 'b' }]],
  [
    'keeps what a driver calls it',
    [{ ...driver, nodeID: 'i-2', allocatable: { count: 3 } }],
    'spec.drivers: Invalid value: {"Name":"disks.example.com","NodeID":"i-2","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
  ],
])('a CSINode that exists %s', (_what, drivers, ...errors) => {
  const { object: old } = create(CSINode, node(driver));
  expect(update(CSINode, old, node(...drivers)).errors).toEqual(errors);
});
