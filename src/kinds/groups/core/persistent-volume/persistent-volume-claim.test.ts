import { expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { PersistentVolumeClaim } from './persistent-volume-claim.ts';

const metadata = { name: 'c', namespace: 'n' };
const room = (storage: string) => ({ resources: { requests: { storage } } });
const plain = { accessModes: ['ReadWriteOnce'], ...room('1Gi') };
const claim = (spec: object) => ({ metadata, spec });
const FIXED =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

it('a PersistentVolumeClaim waits, and asks for files unless it says otherwise', () => {
  expect(create(PersistentVolumeClaim, claim(plain))).toEqual({
    object: { metadata, spec: { ...plain, volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
    errors: [],
  });
});

it.each<[string, object, ...string[]]>([
  [
    'nothing',
    {},
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ],
  ['no room', { ...plain, ...room('0') }, 'spec.resources[storage]: Invalid value: "0": must be greater than zero'],
  [
    'an unknown mode',
    { ...plain, volumeMode: 'X' },
    'spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
  ],
  ['no class on purpose', { ...plain, storageClassName: '' }],
  [
    'two sources that differ',
    {
      ...plain,
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    },
    'spec: Invalid value: "dataSource": must match dataSourceRef',
  ],
  [
    'a source of an unknown kind',
    { ...plain, dataSourceRef: { kind: 'Pod', name: 'a' } },
    'spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec.dataSourceRef: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
  ],
])('a PersistentVolumeClaim with %s is judged', (_what, spec, ...errors) => {
  expect(create(PersistentVolumeClaim, claim(spec)).errors).toEqual(errors);
});

const other = { kind: 'PersistentVolumeClaim', name: 'a' };
it.each([
  ['the older form', { dataSource: other }, other, other],
  ['the newer form', { dataSourceRef: other }, other, other],
  ['another namespace', { dataSourceRef: { ...other, namespace: 'm' } }, undefined, { ...other, namespace: 'm' }],
  ['what the older form never took', { dataSource: { kind: 'Pod', name: 'a' } }, undefined, undefined],
])(
  'a PersistentVolumeClaim is filled from a source in both forms, given %s',
  (_what, sources, dataSource, dataSourceRef) => {
    const { spec } = create(PersistentVolumeClaim, claim({ ...plain, ...sources })).object;
    expect([spec.dataSource, spec.dataSourceRef]).toEqual([dataSource, dataSourceRef]);
  },
);

it.each<[string, object, object, object, string[]]>([
  ['stays as it is', plain, {}, { ...plain, accessModes: ['ReadOnlyMany'] }, [FIXED]],
  ['may be given its volume', plain, {}, { ...plain, volumeName: 'v' }, []],
  ['keeps its volume', { ...plain, volumeName: 'v' }, {}, { ...plain, volumeName: 'w' }, [FIXED]],
  ['may be given its class', plain, {}, { ...plain, storageClassName: 'fast' }, []],
  ['keeps its class', { ...plain, storageClassName: 'fast' }, {}, { ...plain, storageClassName: 'slow' }, [FIXED]],
  ['cannot grow before it is bound', plain, {}, { ...plain, ...room('2Gi') }, [FIXED]],
  [
    'can grow once it is bound',
    plain,
    { phase: 'Bound', capacity: { storage: '1Gi' } },
    { ...plain, ...room('2Gi') },
    [],
  ],
  [
    'cannot shrink below what it has',
    { ...plain, ...room('3Gi') },
    { phase: 'Bound', capacity: { storage: '2Gi' } },
    { ...plain, ...room('1Gi') },
    ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  ],
  [
    'keeps its mode',
    plain,
    {},
    { ...plain, volumeMode: 'Block' },
    [FIXED, 'spec.volumeMode: Invalid value: "Block": field is immutable'],
  ],
  [
    'keeps having a class of attributes',
    { ...plain, volumeAttributesClassName: 'fast' },
    { phase: 'Bound', currentVolumeAttributesClassName: 'fast' },
    plain,
    [
      'spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil',
    ],
  ],
])('a PersistentVolumeClaim that exists %s', (_what, before, status, after, errors) => {
  const { object } = create(PersistentVolumeClaim, claim(before));
  const old = { ...object, status: { ...object.status, ...status } };
  const firstLines = update(PersistentVolumeClaim, old, claim(after)).errors.map((error) => error.split('\n')[0]);
  expect(firstLines).toEqual(errors);
});

it('a PersistentVolumeClaim shows what somebody tried to change', () => {
  const { object } = create(PersistentVolumeClaim, claim({ ...plain, storageClassName: 'fast' }));
  const changed = claim({ ...plain, volumeName: 'v', storageClassName: 'slow' });
  const [error] = update(PersistentVolumeClaim, object, changed).errors;
  expect(error!.split('\n').filter((line) => /^[-+]/.test(line))).toEqual([
    '- "storageClassName": "fast",',
    '+ "storageClassName": "slow",',
  ]);
});

it('a PersistentVolumeClaim reports how its growth goes in known words', () => {
  const { object: old } = create(PersistentVolumeClaim, claim(plain));
  const status = { capacity: { storage: '-1' }, allocatedResourceStatuses: { storage: 'Growing' } };
  expect(update(PersistentVolumeClaim, old, { ...old, status }, { subresource: 'status' }).errors).toEqual([
    'status.capacity[storage]: Invalid value: "-1": must be a valid resource quantity',
    'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
  ]);
});
