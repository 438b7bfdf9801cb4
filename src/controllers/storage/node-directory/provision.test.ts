import { describe, expect, it } from 'vitest';
import { HELD, OURS, said, World } from '../../../../test/support/directory-world.ts';
import { claimNamed, classNamed } from '../../../../test/support/volume-objects.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { nodeDirectory } from '../../../kinds/volumes/node-directory.ts';

const claim = (spec: object = {}, annotations: object = {}) =>
  claimNamed('data', {
    metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': OURS, ...annotations } },
    spec: { storageClassName: 'dir', ...spec },
  });
const onNode = (name: string) => ({ 'volume.kubernetes.io/selected-node': name });
const patient = { provisioner: OURS, volumeBindingMode: 'WaitForFirstConsumer' };

function worldWith(given: object, fields: object = patient): World {
  const world = new World();
  world.put(StorageClass, classNamed('dir', fields));
  world.put(PersistentVolumeClaim, given);
  return world;
}

describe('a volume is provisioned', () => {
  it('on the selected node', () => {
    const world = worldWith(claim({}, onNode('n1')));
    world.node('n1');
    world.apply(world.plan('x/data'));
    const made = world.volume('pvc-uid-of-data');
    expect(nodeDirectory(made)).toEqual({ node: 'n1', path: '/root/volumes/n1/pvc-uid-of-data' });
    expect(made.metadata.finalizers).toEqual([HELD]);
    expect(made.spec).toMatchObject({
      capacity: { storage: '1Gi' },
      claimRef: { name: 'data', namespace: 'x', uid: 'uid-of-data' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'dir',
    });
    const [term] = made.spec.nodeAffinity.required.nodeSelectorTerms;
    expect(term.matchExpressions).toEqual([{ key: 'kubernetes.io/hostname', operator: 'In', values: ['host-n1'] }]);
    expect(world.plan('x/data')).toEqual([]);
  });

  it('in the directory of the class, and with its reclaim policy', () => {
    const fields = { ...patient, parameters: { directory: '/mnt/disk/' }, reclaimPolicy: 'Retain' };
    const world = worldWith(claim({}, onNode('n1')), fields);
    world.node('n1');
    world.apply(world.plan('x/data'));
    expect(world.volume('pvc-uid-of-data').spec.local.path).toBe('/mnt/disk/n1/pvc-uid-of-data');
    expect(world.volume('pvc-uid-of-data').metadata.finalizers).toEqual([]);
  });

  it('with immediate binding, on the healthy node with the fewest volumes', () => {
    const world = worldWith(claim(), { provisioner: OURS });
    world.node('cordoned', { spec: { unschedulable: true } });
    world.node('silent', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
    world.node('n1');
    world.node('n2');
    world.put(PersistentVolume, { metadata: { name: 'v', labels: { 'volume.kubernetes.io/node': 'n1' } }, spec: {} });
    world.apply(world.plan('x/data'));
    expect(nodeDirectory(world.volume('pvc-uid-of-data'))?.node).toBe('n2');
  });

  it.each<[string, object]>([
    ['the claim asks somebody else', claimNamed('data', { spec: { storageClassName: 'dir' } })],
    ['no node is chosen yet', claim()],
    [
      'the claim is on its way out',
      { ...claim({}, onNode('n1')), metadata: { ...claim().metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } },
    ],
  ])('not when %s', (_, given) => {
    const world = worldWith(given);
    world.node('n1');
    expect(world.plan('x/data')).toEqual([]);
  });
});

describe('no volume is provisioned, and an event explains it,', () => {
  it.each<[string, object, object]>([
    ['only the access modes ReadWriteOnce and ReadWriteOncePod are supported', { accessModes: ['ReadWriteMany'] }, {}],
    ['block volumes are not supported', { volumeMode: 'Block' }, {}],
    ['claim.Spec.Selector is not supported', { selector: { matchLabels: { a: 'b' } } }, {}],
    ['data sources are not supported', { dataSource: { kind: 'PersistentVolumeClaim', name: 'a' } }, {}],
    ['mount options are not supported', {}, { mountOptions: ['ro'] }],
    ['unknown parameter "path"', {}, { parameters: { path: '/a' } }],
    ['parameter "directory" must be an absolute path without "." and ".."', {}, { parameters: { directory: 'a' } }],
    [
      'parameter "directory" must be an absolute path without "." and ".."',
      {},
      { parameters: { directory: '/a/../b' } },
    ],
  ])('%s', (why, spec, fields) => {
    const world = worldWith(claim(spec, onNode('n1')), { ...patient, ...fields });
    world.node('n1');
    expect(said(world.plan('x/data'))).toEqual([
      `ProvisioningFailed: failed to provision volume with StorageClass "dir": ${why}`,
    ]);
  });

  it('when the node is gone; another may be selected', () => {
    const world = worldWith(claim({}, onNode('n1')));
    const plan = world.plan('x/data');
    expect(said(plan)).toEqual([
      'ProvisioningFailed: failed to provision volume with StorageClass "dir": node "n1" not found',
    ]);
    world.apply(plan);
    expect(world.of(PersistentVolumeClaim).get('data', 'x').metadata.annotations).toEqual({
      'volume.kubernetes.io/storage-provisioner': OURS,
    });
  });

  it('when no node is healthy', () => {
    expect(said(worldWith(claim(), { provisioner: OURS }).plan('x/data'))).toEqual([
      'ProvisioningFailed: failed to provision volume with StorageClass "dir": there is no node that is ready',
    ]);
  });
});
