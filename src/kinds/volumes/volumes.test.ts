import { describe, expect, it } from 'vitest';
import { classAskedFor, classNameOf, freeByClass, isFor, type SeenClaim } from './binding.ts';
import { isToGrow } from './growth.ts';
import { choice, closestFirst, misfit } from './matching.ts';
import { isToRemove, NODE, NODE_DIRECTORY, nodeDirectory, REMOVAL } from './node-directory.ts';

const claim = (spec: object = {}, metadata: object = {}): SeenClaim => ({
  metadata: { name: 'c', namespace: 'x', uid: 'u', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
});
const volume = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, ...spec },
  status: { phase: 'Available' },
});

describe('a class', () => {
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };

  it('is what the annotation of old says, or else the field', () => {
    expect(classNameOf(claim({ storageClassName: 'new' }, { annotations }))).toBe('old');
    expect(classNameOf(claim({ storageClassName: 'new' }))).toBe('new');
  });

  it('that is not mentioned is not the same as none', () => {
    expect(classAskedFor(claim())).toBeUndefined();
    expect(classAskedFor(claim({ storageClassName: '' }))).toBe('');
  });
});

it.each<[string, object | undefined, boolean]>([
  ['nobody', undefined, false],
  ['the claim', { name: 'c', namespace: 'x', uid: 'u' }, true],
  ['whoever has its name', { name: 'c', namespace: 'x' }, true],
  ['one that had its name', { name: 'c', namespace: 'x', uid: 'before' }, false],
  ['one of another namespace', { name: 'c', namespace: 'y' }, false],
])('a volume that is for %s', (_, claimRef, isTheirs) => {
  const given = volume('v', claimRef ? { claimRef } : {});
  expect(isFor(given, claim())).toBe(isTheirs);
  expect(freeByClass(given)).toEqual(claimRef ? [] : ['']);
});

describe('of free volumes', () => {
  const names = (volumes: { metadata: { name: string } }[]) => volumes.map(({ metadata }) => metadata.name);
  const wide = volume('wide', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
  const large = volume('large', { capacity: { storage: '1Ti' } });
  const others = [
    volume('small', { capacity: { storage: '1999Mi' } }),
    volume('read-only', { accessModes: ['ReadOnlyMany'] }),
    volume('device', { volumeMode: 'Block' }),
    volume('leaving', {}, { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  ];

  it('those that suit come by size, or by how little more they can do', () => {
    expect(names(choice(claim(), [large, wide, ...others]))).toEqual(['wide', 'large']);
    expect(names(choice(claim(), [wide, large, ...others], closestFirst))).toEqual(['large', 'wide']);
  });

  it('those with the right labels suit', () => {
    const matchExpressions = [{ key: 'disk', operator: 'In', values: ['ssd'] }];
    const found = choice(claim({ selector: { matchExpressions } }), [
      large,
      volume('fast', {}, { labels: { disk: 'ssd' } }),
    ]);
    expect(names(found)).toEqual(['fast']);
  });

  it('it is said why one does not suit', () => {
    expect(others.map((each) => misfit(each, claim()))).toEqual([
      'requested PV is too small',
      'incompatible accessMode',
      'incompatible volumeMode',
      'the volume is marked for deletion "leaving"',
    ]);
    expect(misfit(wide, claim())).toBeUndefined();
  });
});

it.each([
  ['Bound', '1Gi', true],
  ['Bound', '2048Mi', false],
  ['Pending', '1Gi', false],
])('a claim that is %s with %s of 2Gi grows or does not', (phase, storage, grows) => {
  expect(isToGrow({ ...claim(), status: { phase, capacity: { storage } } })).toBe(grows);
});

describe('a volume that is a directory of a node', () => {
  const made = (path: string, metadata: object = {}) => ({
    spec: { local: { path }, persistentVolumeReclaimPolicy: 'Delete' },
    status: { phase: 'Released' },
    metadata: {
      name: 'pvc-1',
      labels: { [NODE]: 'n1' },
      annotations: { 'pv.kubernetes.io/provisioned-by': NODE_DIRECTORY },
      ...metadata,
    },
  });

  it('names the node and the path', () => {
    expect(nodeDirectory(made('/data/n1/pvc-1'))).toEqual({ node: 'n1', path: '/data/n1/pvc-1' });
  });

  it.each([
    ['is another', '/data/n1/pvc-2'],
    ['is everything', '/'],
    ['leads elsewhere', '/data/../pvc-1'],
    ['stands still', '/./pvc-1'],
    ['has a gap', '/data//pvc-1'],
    ['is not whole', 'data/pvc-1'],
  ])('names none when the path %s', (_, path) => {
    expect(nodeDirectory(made(path))).toBeUndefined();
  });

  it('names none when somebody else made it', () => {
    expect(nodeDirectory(made('/data/pvc-1', { annotations: {} }))).toBeUndefined();
  });

  it('is removed when it is being deleted, is held for that, and nobody has it', () => {
    const leaving = { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: [REMOVAL] };
    expect(isToRemove(made('/data/pvc-1', leaving))).toBe(true);
    expect(isToRemove(made('/data/pvc-1', { finalizers: [REMOVAL] }))).toBe(false);
    expect(isToRemove({ ...made('/data/pvc-1', leaving), status: { phase: 'Bound' } })).toBe(false);
    const kept = { local: { path: '/data/pvc-1' }, persistentVolumeReclaimPolicy: 'Retain' };
    expect(isToRemove({ ...made('', leaving), spec: kept })).toBe(false);
  });
});
