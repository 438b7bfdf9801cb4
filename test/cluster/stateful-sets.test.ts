import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerRevision } from '../../src/kinds/groups/apps/controller-revision.ts';
import { StatefulSet } from '../../src/kinds/groups/apps/stateful-set.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { PersistentVolumeClaim } from '../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type LivingCluster, startLivingCluster } from '../support/cluster/living-cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: LivingCluster;

beforeEach(async () => {
  cluster = await startLivingCluster();
});
afterEach(() => cluster.stop());

const sets = () => cluster.client.of(StatefulSet).in('x');
const get = () => sets().get('web');
const allPods = () => cluster.client.of(Pod).in('x');
const pods = async () => [...(await allPods().list()).items].sort(byName);
const byName = (a: any, b: any) => (a.metadata.name < b.metadata.name ? -1 : 1);
const names = async () => (await pods()).map(({ metadata }) => metadata.name);
const images = async () => (await pods()).map(({ spec }) => spec.containers[0]?.image);
const allClaims = () => cluster.client.of(PersistentVolumeClaim).in('x');
const claims = async () => [...(await allClaims().list()).items].sort(byName);
const revisions = async () =>
  [...(await cluster.client.of(ControllerRevision).in('x').list()).items].sort((a, b) => a.revision - b.revision);
const said = async (reason: string) =>
  (await cluster.client.of(Event).in('x').list()).items
    .filter((event) => event.reason === reason)
    .map(({ message }) => message);
const merge = (changes: object) => ({ type: 'merge', changes }) as const;
const change = (spec: object) => sets().patch('web', merge({ spec }));

const template = (image: string, spec: object = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }], ...spec },
});
const web = (spec: object = {}) =>
  ({
    metadata: { name: 'web', namespace: 'x' },
    spec: {
      replicas: 3,
      serviceName: 'web',
      selector: { matchLabels: { app: 'web' } },
      template: template('one'),
      ...spec,
    },
  }) as any;
const data = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const stored = (whenDeleted: string, whenScaled: string, spec: object = {}) =>
  web({
    volumeClaimTemplates: [data],
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    ...spec,
  });
const makeAllReady = async () => {
  for (const pod of await pods()) {
    if (pod.status.phase !== 'Running') await makeReady(cluster.client, pod, cluster.clock.now());
  }
};

const rolledOut = () =>
  cluster.eventually(async () => {
    const { metadata, spec, status } = await get();
    return (
      status.observedGeneration === metadata.generation &&
      status.replicas === spec.replicas &&
      (status.availableReplicas ?? 0) === spec.replicas &&
      (status.updatedReplicas ?? 0) === spec.replicas &&
      status.currentRevision === status.updateRevision
    );
  });

describe('a StatefulSet', () => {
  it('starts its pods one by one, each with its own name', async () => {
    cluster.becomesReady = () => false;
    await sets().create(web());
    await cluster.eventually(async () => (await names()).join() === 'web-0');
    await cluster.clock.advance(5000);
    expect(await names()).toEqual(['web-0']);
    await makeAllReady();
    await cluster.eventually(async () => (await names()).join() === 'web-0,web-1');
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    const [revision] = await revisions();
    const [, second] = await pods();
    expect(second?.spec).toMatchObject({ hostname: 'web-1', subdomain: 'web' });
    expect(second?.metadata.labels).toEqual({
      app: 'web',
      'statefulset.kubernetes.io/pod-name': 'web-1',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': revision?.metadata.name,
    });
    expect((await get()).status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision?.metadata.name,
      updateRevision: revision?.metadata.name,
      collisionCount: 0,
    });
    expect((await said('SuccessfulCreate')).sort()).toEqual(
      ['web-0', 'web-1', 'web-2'].map((name) => `Create Pod ${name} in StatefulSet web successful`),
    );
    expect(cluster.complaints).toEqual([]);
  });

  it('starts all of them at once, when it is parallel', async () => {
    cluster.becomesReady = () => false;
    await sets().create(web({ podManagementPolicy: 'Parallel' }));
    await cluster.eventually(async () => (await names()).join() === 'web-0,web-1,web-2');
    await change({ replicas: 0 });
    await cluster.eventually(async () => (await pods()).length === 0);
  });

  it('numbers pods from its start ordinal, and moves when that changes', async () => {
    await sets().create(web({ replicas: 2, ordinals: { start: 3 } }));
    await rolledOut();
    expect(await names()).toEqual(['web-3', 'web-4']);
    await change({ ordinals: { start: 4 } });
    await cluster.eventually(async () => (await names()).join() === 'web-4,web-5');
  });

  it('shrinks from the end, one by one', async () => {
    await sets().create(web());
    await rolledOut();
    await allPods().patch('web-2', merge({ metadata: { finalizers: ['example.com/wait'] } }));
    await change({ replicas: 1 });
    await cluster.eventually(async () => (await pods())[2]?.metadata.deletionTimestamp !== undefined);
    await cluster.clock.advance(5000);
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2']);
    expect((await pods())[1]?.metadata.deletionTimestamp).toBeUndefined();
    await allPods().patch('web-2', merge({ metadata: { finalizers: null } }));
    await cluster.eventually(async () => (await names()).join() === 'web-0');
    await rolledOut();
    expect(await said('SuccessfulDelete')).toEqual([
      'Delete Pod web-2 in StatefulSet web successful',
      'Delete Pod web-1 in StatefulSet web successful',
    ]);
  });

  it('updates from the end, one by one, and keeps the names', async () => {
    await sets().create(web());
    await rolledOut();
    cluster.becomesReady = ({ spec }) => spec.containers[0].image !== 'two';
    await change({ template: template('two') });
    await cluster.eventually(async () => (await images()).join() === 'one,one,two');
    await cluster.clock.advance(5000);
    expect(await images()).toEqual(['one', 'one', 'two']);
    const [first, second] = await revisions();
    expect((await get()).status).toMatchObject({
      currentRevision: first?.metadata.name,
      updateRevision: second?.metadata.name,
      currentReplicas: 2,
      updatedReplicas: 1,
      readyReplicas: 2,
    });
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2']);
    expect(await images()).toEqual(['two', 'two', 'two']);
    expect((await get()).status.currentRevision).toBe(second?.metadata.name);
  });

  it('keeps the template of pods below the partition, also when they are recreated', async () => {
    await sets().create(web({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }));
    await rolledOut();
    await change({ template: template('two') });
    await cluster.eventually(async () => (await images()).join() === 'one,one,two');
    await allPods().delete('web-0');
    await allPods().delete('web-2');
    await cluster.eventually(async () => (await get()).status.readyReplicas === 3 && (await pods()).length === 3);
    expect(await images()).toEqual(['one', 'one', 'two']);
    await change({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } });
    await rolledOut();
    expect(await images()).toEqual(['two', 'two', 'two']);
  });

  it('updates maxUnavailable pods at once', async () => {
    const rollingUpdate = { partition: 0, maxUnavailable: 2 };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    await sets().create(web({ replicas: 5, podManagementPolicy: 'Parallel', updateStrategy }));
    await rolledOut();
    cluster.becomesReady = ({ spec }) => spec.containers[0].image !== 'two';
    await change({ template: template('two') });
    await cluster.eventually(async () => (await images()).join() === 'one,one,one,two,two');
    await cluster.clock.advance(5000);
    expect(await images()).toEqual(['one', 'one', 'one', 'two', 'two']);
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
  });

  it('waits until pods are deleted with OnDelete, the default of apps/v1beta1', async () => {
    const old = cluster.client.of(StatefulSet, 'apps/v1beta1').in('x');
    await old.create({ ...web(), apiVersion: 'apps/v1beta1', kind: 'StatefulSet' });
    await cluster.eventually(async () => (await get()).status.readyReplicas === 3);
    expect((await get()).spec.updateStrategy.type).toBe('OnDelete');
    await change({ template: template('two') });
    await cluster.eventually(async () => (await get()).status.observedGeneration === 2);
    await cluster.clock.advance(10_000);
    expect(await images()).toEqual(['one', 'one', 'one']);
    await allPods().delete('web-1');
    await cluster.eventually(async () => (await images()).join() === 'one,two,one');
  });

  it('rolls back to an earlier template, which becomes the newest revision', async () => {
    await sets().create(web({ revisionHistoryLimit: 2 }));
    await rolledOut();
    for (const image of ['two', 'three', 'four', 'five']) {
      await change({ template: template(image) });
      await rolledOut();
    }
    await cluster.eventually(async () => (await revisions()).length === 3);
    const [third] = await revisions();
    expect(third?.revision).toBe(3);
    await sets().patch('web', { type: 'strategic', changes: third?.data as object });
    await rolledOut();
    expect(await images()).toEqual(['three', 'three', 'three']);
    expect((await revisions()).map(({ revision }) => revision)).toEqual([4, 5, 6]);
    expect((await get()).status.currentRevision).toBe(third?.metadata.name);
  });

  it('replaces a terminated pod, and a deleted one', async () => {
    await sets().create(web());
    await rolledOut();
    const [first] = await pods();
    await allPods().patchStatus('web-0', merge({ status: { phase: 'Failed', conditions: null } }));
    await cluster.eventually(async () => {
      const [now] = await pods();
      return now?.metadata.name === 'web-0' && now.metadata.uid !== first?.metadata.uid;
    });
    await rolledOut();
    await allPods().delete('web-1');
    await rolledOut();
    await cluster.eventually(async () => (await names()).join() === 'web-0,web-1,web-2');
  });

  it('restores the pod-name label', async () => {
    await sets().create(web({ replicas: 1 }));
    await rolledOut();
    const label = 'statefulset.kubernetes.io/pod-name';
    await allPods().patch('web-0', merge({ metadata: { labels: { [label]: 'other' } } }));
    await cluster.eventually(async () => (await pods())[0]?.metadata.labels?.[label] === 'web-0');
  });

  it('counts a pod as available only after minReadySeconds, and starts the next one then', async () => {
    await sets().create(web({ replicas: 2, minReadySeconds: 30 }));
    await cluster.eventually(async () => (await get()).status.readyReplicas === 1);
    expect((await get()).status.availableReplicas).toBe(0);
    await cluster.clock.advance(25_000);
    expect(await names()).toEqual(['web-0']);
    await cluster.clock.advance(7000);
    await cluster.eventually(async () => (await names()).join() === 'web-0,web-1');
    await cluster.clock.advance(31_000);
    await rolledOut();
  });

  it('adopts orphans, but none whose name is not of the set', async () => {
    await sets().create(web());
    await rolledOut();
    const before = (await pods()).map(({ metadata }) => metadata.uid);
    await sets().delete('web', { propagationPolicy: 'Orphan' });
    await cluster.eventually(async () => (await sets().list()).items.length === 0);
    await allPods().create({
      metadata: { name: 'stranger', labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    } as never);
    const made = await sets().create(web());
    await rolledOut();
    const all = await pods();
    expect(all.find(({ metadata }) => metadata.name === 'stranger')?.metadata.ownerReferences).toBeUndefined();
    const mine = all.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === made.metadata.uid);
    expect(mine.map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(await revisions()).toHaveLength(1);
  });
});

describe("a StatefulSet's claims", () => {
  const owners = async () =>
    (await claims()).map(
      ({ metadata }) => metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join() ?? '',
    );

  it('are created for each pod, replace its volumes, and outlive it', async () => {
    await sets().create(
      stored('Retain', 'Retain', {
        template: template('one', {
          volumes: [
            { name: 'data', emptyDir: {} },
            { name: 'tmp', emptyDir: {} },
          ],
        }),
      }),
    );
    await rolledOut();
    expect((await claims()).map(({ metadata }) => metadata.name)).toEqual(['data-web-0', 'data-web-1', 'data-web-2']);
    expect((await claims())[0]?.metadata.labels).toEqual({ app: 'web' });
    const volumes = (await pods())[1]?.spec.volumes?.filter(({ name }) => !name.startsWith('kube-api-access'));
    expect(volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
      { name: 'tmp', emptyDir: {} },
    ]);
    expect(await said('SuccessfulCreate')).toContain('Create Claim data-web-0 Pod web-0 in StatefulSet web success');
    const before = (await claims()).map(({ metadata }) => metadata.uid);
    await change({ replicas: 1 });
    await cluster.eventually(async () => (await pods()).length === 1);
    await change({ replicas: 3 });
    await rolledOut();
    expect((await claims()).map(({ metadata }) => metadata.uid)).toEqual(before);
    await sets().delete('web');
    await cluster.eventually(async () => (await pods()).length === 0);
    expect(await claims()).toHaveLength(3);
  });

  it('are owned by the set with whenDeleted: Delete', async () => {
    await sets().create(stored('Delete', 'Retain'));
    await rolledOut();
    expect(await owners()).toEqual(Array(3).fill('StatefulSet/web'));
    await change({ replicas: 2 });
    await cluster.eventually(async () => (await pods()).length === 2);
    expect(await owners()).toEqual(Array(3).fill('StatefulSet/web'));
    await sets().delete('web');
    await cluster.eventually(async () => (await claims()).length === 0);
  });

  it('are owned by a surplus pod with whenScaled: Delete', async () => {
    await sets().create(stored('Retain', 'Delete'));
    await rolledOut();
    expect(await owners()).toEqual(['', '', '']);
    await change({ replicas: 1 });
    await cluster.eventually(async () => (await claims()).length === 1);
    expect(await names()).toEqual(['web-0']);
    await change({ replicas: 2 });
    await rolledOut();
    expect((await claims()).map(({ metadata }) => metadata.name)).toEqual(['data-web-0', 'data-web-1']);
  });

  it('follow when the policy changes', async () => {
    await sets().create(stored('Delete', 'Delete', { replicas: 2 }));
    await rolledOut();
    expect(await owners()).toEqual(Array(2).fill('StatefulSet/web'));
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } });
    await cluster.eventually(async () => (await owners()).every((each) => each === ''));
  });

  it('are waited for while they are being deleted', async () => {
    await sets().create(stored('Retain', 'Retain', { replicas: 1 }));
    await rolledOut();
    await change({ replicas: 0 });
    await cluster.eventually(async () => (await pods()).length === 0);
    await allClaims().patch('data-web-0', merge({ metadata: { finalizers: ['example.com/wait'] } }));
    await allClaims().delete('data-web-0');
    await change({ replicas: 1 });
    const why = 'Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted';
    await cluster.eventually(async () => (await said('FailedCreate')).includes(why));
    expect(await pods()).toEqual([]);
    await allClaims().patch('data-web-0', merge({ metadata: { finalizers: null } }));
    await rolledOut();
    expect(await claims()).toHaveLength(1);
  });
});
