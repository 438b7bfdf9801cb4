/** Claims, volumes, and the pods and nodes that use them, with a controlled clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StatefulSet } from '../../src/kinds/groups/apps/stateful-set.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { StorageClass } from '../../src/kinds/groups/storage/storage-class.ts';
import { VolumeAttachment } from '../../src/kinds/groups/storage/volume-attachment.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startWholeCluster } from '../support/cluster/whole-cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startWholeCluster(['n1', 'n2']);
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
  await cluster.eventually(async () => (await classes().list()).items.length > 0);
});
afterEach(() => cluster.stop());

const claims = () => cluster.client.of(PersistentVolumeClaim).in('x');
const volumes = () => cluster.client.of(PersistentVolume);
const pods = () => cluster.client.of(Pod).in('x');
const classes = () => cluster.client.of(StorageClass);
const merge = (changes: object) => ({ type: 'merge', changes }) as const;

async function claim(name: string, spec: object = {}): Promise<void> {
  const usual = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await claims().create({ metadata: { name, namespace: 'x' }, spec: { ...usual, ...spec } } as never);
}

async function volume(name: string, spec: object = {}): Promise<void> {
  const usual = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: `/data/${name}` } };
  await volumes().create({ metadata: { name }, spec: { ...usual, ...spec } } as never);
}

async function pod(name: string, claimName: string, spec: object = {}): Promise<void> {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName } }];
  const containers = [{ name: 'c', image: 'nginx' }];
  await pods().create({ metadata: { name, namespace: 'x' }, spec: { containers, volumes, ...spec } } as never);
}

const phaseOf = async (name: string) => (await claims().get(name)).status.phase;
const volumePhase = async (name: string) => (await volumes().get(name)).status.phase;
const isBound = async (name: string) => (await phaseOf(name)) === 'Bound';
const isRunning = async (name: string) => (await pods().get(name)).status.phase === 'Running';
const isGone = async (name: string) => !(await volumes().list()).items.some(({ metadata }) => metadata.name === name);
const said = async (name: string) =>
  (await cluster.client.of(Event).in('x').list()).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
const { eventually, settled } = {
  eventually: (condition: () => Promise<boolean>) => cluster.eventually(condition),
  settled: () => cluster.clock.advance(1_000),
};

describe('a new cluster', () => {
  it('has a storage class, and only the first time', async () => {
    const { items } = await classes().list();
    expect(items).toMatchObject([
      {
        metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'quarterdeck.io/node-directory',
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowVolumeExpansion: true,
      },
    ]);
    await settled();
    await classes().delete('standard');
    await cluster.client.of(Namespace).patch('kube-system', merge({ metadata: { labels: { a: 'b' } } }));
    await settled();
    expect((await classes().list()).items).toEqual([]);
  });
});

describe('a claim of the default class', () => {
  it('waits for a pod, and gets a directory on the pod’s node', async () => {
    await claim('data');
    await eventually(async () => (await said('data')).length > 0);
    expect(await said('data')).toEqual([
      'WaitForFirstConsumer: waiting for first consumer to be created before binding',
    ]);
    expect(await phaseOf('data')).toBe('Pending');
    await pod('web', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n2' } });
    await eventually(() => isRunning('web'));
    const { metadata, spec, status } = await claims().get('data');
    const name = `pvc-${metadata.uid}`;
    expect(spec).toMatchObject({ storageClassName: 'standard', volumeName: name });
    expect(status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } });
    expect(metadata.annotations).toMatchObject({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
      'volume.kubernetes.io/selected-node': 'n2',
      'volume.kubernetes.io/storage-provisioner': 'quarterdeck.io/node-directory',
    });
    expect(await volumes().get(name)).toMatchObject({
      metadata: {
        annotations: { 'pv.kubernetes.io/provisioned-by': 'quarterdeck.io/node-directory' },
        finalizers: ['external-provisioner.volume.kubernetes.io/finalizer', 'kubernetes.io/pv-protection'],
      },
      spec: { local: { path: `/var/lib/quarterdeck/volumes/n2/${name}` }, persistentVolumeReclaimPolicy: 'Delete' },
      status: { phase: 'Bound' },
    });
    expect((await said('data')).sort()).toEqual([
      expect.stringMatching(/^ExternalProvisioning: Waiting for a volume to be created either by the external/),
      'Provisioning: External provisioner is provisioning volume for claim "x/data"',
      `ProvisioningSucceeded: Successfully provisioned volume ${name}`,
      'WaitForFirstConsumer: waiting for first consumer to be created before binding',
    ]);
    expect(cluster.complaints).toEqual([]);
  });

  it('reports the pod that it waits for, when that cannot be scheduled', async () => {
    await claim('data');
    await pod('web', 'data', { nodeSelector: { disk: 'none' } });
    const waits = 'WaitForPodScheduled: waiting for pod web to be scheduled';
    await eventually(async () => (await said('data')).includes(waits));
  });

  it('is deleted with its volume, and not while a pod uses it', async () => {
    await claim('data');
    await pod('web', 'data');
    await eventually(() => isRunning('web'));
    const { volumeName = '' } = (await claims().get('data')).spec;
    await claims().delete('data');
    await settled();
    expect(await phaseOf('data')).toBe('Bound');
    await pods().delete('web');
    await eventually(() => isGone(volumeName));
    expect((await claims().list()).items).toEqual([]);
    expect(cluster.complaints).toEqual([]);
  });

  it('leaves its volume on a node that is down, until that is back or gone', async () => {
    await claim('data');
    await pod('web', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n1' } });
    await eventually(() => isRunning('web'));
    const { volumeName = '' } = (await claims().get('data')).spec;
    const down = (value: string | null) =>
      cluster.client
        .of(Node)
        .patch('n1', merge({ metadata: { annotations: { 'simulated.kubernetes.io/down': value } } }));
    await pods().delete('web');
    await eventually(async () => (await pods().list()).items.length === 0);
    await down('true');
    await claims().delete('data');
    await eventually(async () => (await volumes().get(volumeName)).metadata.deletionTimestamp !== undefined);
    await settled();
    expect((await volumes().get(volumeName)).metadata.finalizers).toEqual([
      'external-provisioner.volume.kubernetes.io/finalizer',
    ]);
    await down(null);
    await eventually(() => isGone(volumeName));
  });

  it('is released when its node has left the cluster', async () => {
    await claim('data');
    await pod('web', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n1' } });
    await eventually(() => isRunning('web'));
    const { volumeName = '' } = (await claims().get('data')).spec;
    await cluster.client.of(Node).delete('n1');
    await pods().delete('web', { gracePeriodSeconds: 0 });
    await claims().delete('data');
    await eventually(() => isGone(volumeName));
  });

  it('keeps its data with the policy Retain', async () => {
    await claim('data');
    await pod('web', 'data');
    await eventually(() => isRunning('web'));
    const { volumeName = '' } = (await claims().get('data')).spec;
    await volumes().patch(volumeName, merge({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }));
    await pods().delete('web');
    await claims().delete('data');
    await eventually(async () => (await volumePhase(volumeName)) === 'Released');
    await settled();
    expect((await volumes().get(volumeName)).metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await volumes().delete(volumeName);
    await eventually(() => isGone(volumeName));
  });

  it('grows', async () => {
    await claim('data');
    await pod('web', 'data');
    await eventually(() => isRunning('web'));
    await claims().patch('data', merge({ spec: { resources: { requests: { storage: '5Gi' } } } }));
    await eventually(async () => (await claims().get('data')).status.capacity?.storage === '5Gi');
    const { spec, status } = await claims().get('data');
    expect(status).toEqual({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '5Gi' },
      allocatedResources: { storage: '5Gi' },
    });
    expect((await volumes().get(spec.volumeName ?? '')).spec.capacity).toEqual({ storage: '5Gi' });
    await settled();
    expect(await said('data')).toEqual(
      expect.arrayContaining([
        'ExternalExpanding: waiting for an external controller to expand this PVC',
        `Resizing: External resizer is resizing volume ${spec.volumeName}`,
        'VolumeResizeSuccessful: Resize volume succeeded',
      ]),
    );
  });

  it('is deleted with its namespace, and its volume with it', async () => {
    await claim('data');
    await pod('web', 'data');
    await eventually(() => isRunning('web'));
    await cluster.client.of(Namespace).delete('x');
    await eventually(async () => (await volumes().list()).items.length === 0);
    const left = async () =>
      (await cluster.client.of(Namespace).list()).items.some(({ metadata }) => metadata.name === 'x');
    await eventually(async () => !(await left()));
  });

  it('gets an event about what a directory cannot do', async () => {
    await claim('shared', { accessModes: ['ReadWriteMany'] });
    await pod('web', 'shared');
    const only = 'only the access modes ReadWriteOnce and ReadWriteOncePod are supported';
    const failed = `ProvisioningFailed: failed to provision volume with StorageClass "standard": ${only}`;
    await eventually(async () => (await said('shared')).includes(failed));
  });
});

describe('a pod', () => {
  it('follows its volume to its node', async () => {
    await claim('data');
    await pod('first', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n2' } });
    await eventually(() => isRunning('first'));
    await pod('second', 'data');
    await eventually(() => isRunning('second'));
    expect((await pods().get('second')).spec.nodeName).toBe('n2');
  });

  it('reports why its volumes exclude every node', async () => {
    const why = async (name: string) =>
      (await pods().get(name)).status.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
    await pod('early', 'none');
    await eventually(async () => (await why('early')) !== undefined);
    expect(await why('early')).toMatch(/^0\/2 nodes are available: persistentvolumeclaim "none" not found\./);
    await claim('never', { storageClassName: '' });
    await pod('patient', 'never');
    await eventually(async () => (await why('patient')) !== undefined);
    expect(await why('patient')).toMatch(
      /^0\/2 nodes are available: pod has unbound immediate PersistentVolumeClaims\./,
    );
    await volume('late', { storageClassName: '' });
    await eventually(() => isRunning('patient'));
    await claim('none');
    await eventually(() => isRunning('early'));
  });

  it('has the claim of its ephemeral volume, which is deleted with it', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const volumes = [{ name: 'tmp', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec } } }];
    await pod('web', '', { volumes });
    await eventually(() => isRunning('web'));
    const { metadata, status } = await claims().get('web-tmp');
    expect(metadata).toMatchObject({ labels: { a: 'b' }, ownerReferences: [{ kind: 'Pod', name: 'web' }] });
    expect(status.phase).toBe('Bound');
    await pods().delete('web');
    await eventually(async () => (await claims().list()).items.length === 0);
    await eventually(async () => (await cluster.client.of(PersistentVolume).list()).items.length === 0);
  });
});

describe('volumes of a CSI driver', () => {
  it('are attached to the node of their pod as long as it has one', async () => {
    const attachments = () => cluster.client.of(VolumeAttachment);
    await volume('disk', { hostPath: undefined, csi: { driver: 'disk.example.com', volumeHandle: 'd-1' } });
    await claim('mine', { storageClassName: '', volumeName: 'disk' });
    await eventually(() => isBound('mine'));
    await pod('web', 'mine');
    await eventually(async () => (await attachments().list()).items.length === 1);
    const [made] = (await attachments().list()).items;
    const { nodeName = '' } = (await pods().get('web')).spec;
    expect(made!.spec).toEqual({
      attacher: 'disk.example.com',
      nodeName,
      source: { persistentVolumeName: 'disk' },
    });
    await attachments().patchStatus(made!.metadata.name ?? '', merge({ status: { attached: true } }) as never);
    const attached = async () => (await cluster.client.of(Node).get(nodeName)).status.volumesAttached;
    await eventually(async () => (await attached()) !== undefined);
    expect(await attached()).toEqual([{ name: 'kubernetes.io/csi/disk.example.com^d-1', devicePath: '' }]);
    await settled();
    expect(await said('web')).toContain('SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "disk" ');
    await pods().delete('web');
    await eventually(async () => (await attachments().list()).items.length === 0);
    await eventually(async () => (await attached()) === undefined);
  });
});

describe('manually created volumes', () => {
  it('are bound to claims at once, one to each, and retained', async () => {
    for (const [name, storage] of [
      ['small', '1Gi'],
      ['large', '9Gi'],
    ] as const)
      await volume(name, { capacity: { storage } });
    for (const name of ['a', 'b', 'c']) await claim(name, { storageClassName: '' });
    await eventually(async () => (await Promise.all(['a', 'b', 'c'].map(isBound))).filter(Boolean).length === 2);
    await settled();
    const taken = (await claims().list()).items.map(({ spec }) => spec.volumeName).filter(Boolean);
    expect(taken.sort()).toEqual(['large', 'small']);
    const [bound] = (await claims().list()).items.filter(({ spec }) => spec.volumeName === 'small');
    await claims().delete(bound?.metadata.name ?? '');
    await eventually(async () => (await volumePhase('small')) === 'Released');
    expect((await volumes().get('small')).spec.claimRef?.name).toBe(bound?.metadata.name);
  });

  it('of a node are chosen by the scheduler', async () => {
    const provisioner = 'kubernetes.io/no-provisioner';
    await classes().create({
      metadata: { name: 'local' },
      provisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    } as never);
    const on = (node: string) => {
      const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }];
      const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
      return { hostPath: undefined, local: { path: '/disk' }, storageClassName: 'local', nodeAffinity };
    };
    await volume('of-n1', on('n1'));
    await volume('of-n2', on('n2'));
    await claim('data', { storageClassName: 'local' });
    await settled();
    expect(await phaseOf('data')).toBe('Pending');
    await pod('web', 'data', { nodeSelector: { 'kubernetes.io/hostname': 'n2' } });
    await eventually(() => isRunning('web'));
    expect((await claims().get('data')).spec.volumeName).toBe('of-n2');
    expect([await volumePhase('of-n1'), await volumePhase('of-n2')]).toEqual(['Available', 'Bound']);
  });

  it('that are deleted under their claims are lost', async () => {
    await volume('disk');
    await claim('data', { storageClassName: '' });
    await eventually(() => isBound('data'));
    await volumes().patch('disk', merge({ metadata: { finalizers: null } }));
    await volumes().delete('disk');
    await eventually(async () => (await phaseOf('data')) === 'Lost');
    expect(await said('data')).toContain(
      'ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    );
  });

  it('are emptied and free again with the policy Recycle', async () => {
    await volume('disk', { persistentVolumeReclaimPolicy: 'Recycle' });
    await claim('data', { storageClassName: '' });
    await eventually(() => isBound('data'));
    await claims().delete('data');
    await eventually(async () => (await volumePhase('disk')) === 'Available');
    expect((await volumes().get('disk')).spec.claimRef).toBeUndefined();
    await eventually(async () => (await cluster.client.of(Pod).in('default').list()).items.length === 0);
  });

  it('are bound to claims that are older than the default class', async () => {
    await classes().delete('standard');
    await claim('data');
    await eventually(async () => (await said('data')).length > 0);
    expect(await said('data')).toEqual([
      'FailedBinding: no persistent volumes available for this claim and no storage class is set',
    ]);
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const provisioner = 'quarterdeck.io/node-directory';
    await classes().create({ metadata: { name: 'now', annotations }, provisioner } as never);
    await eventually(() => isBound('data'));
    expect((await claims().get('data')).spec.storageClassName).toBe('now');
  });
});

describe('a StatefulSet with storage', () => {
  it('has a claim and a volume for each pod, through scaling and back', async () => {
    const sets = cluster.client.of(StatefulSet).in('x');
    const labels = { app: 'db' };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await sets.create({
      metadata: { name: 'db', namespace: 'x' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'db' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }],
      },
    } as never);
    const ready = (count: number) => async () => ((await sets.get('db')).status.readyReplicas ?? 0) === count;
    await eventually(ready(2));
    const before = Object.fromEntries(
      (await claims().list()).items.map((each) => [each.metadata.name, each.spec.volumeName]),
    );
    expect(Object.keys(before).sort()).toEqual(['data-db-0', 'data-db-1']);
    const homes = async () =>
      (await pods().list()).items.map((each) => `${each.metadata.name} ${each.spec.nodeName}`).sort();
    const at = await homes();
    await sets.patch('db', merge({ spec: { replicas: 0 } }));
    await eventually(async () => (await pods().list()).items.length === 0);
    expect((await claims().list()).items).toHaveLength(2);
    await sets.patch('db', merge({ spec: { replicas: 3 } }));
    await eventually(ready(3));
    expect((await homes()).slice(0, 2)).toEqual(at);
    const after = (await claims().list()).items.map(({ spec: { volumeName } }) => volumeName);
    expect(after).toEqual(expect.arrayContaining(Object.values(before)));
    expect(new Set(after).size).toBe(3);
    expect(cluster.complaints).toEqual([]);
  });
});
