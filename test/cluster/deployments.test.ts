import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../src/kinds/groups/core/quota/resource-quota.ts';
import { type LivingCluster, startLivingCluster } from '../support/cluster/living-cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: LivingCluster;

beforeEach(async () => {
  cluster = await startLivingCluster();
});
afterEach(() => cluster.stop());

const deployments = () => cluster.client.of(Deployment).in('x');
const pods = async () => (await cluster.client.of(Pod).in('x').list()).items;
const sets = async () => (await cluster.client.of(ReplicaSet).in('x').list()).items;
const get = () => deployments().get('web');
const condition = async (type: string) => (await get()).status.conditions?.find((each) => each.type === type);
const events = async () => (await cluster.client.of(Event).in('x').list()).items;
const said = async (about: string) =>
  (await events()).filter(({ involvedObject }) => involvedObject.kind === about).map(({ message }) => message);

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});
const web = (spec: object = {}, metadata: object = {}) =>
  ({
    metadata: { name: 'web', namespace: 'x', ...metadata },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: template('one'), ...spec },
  }) as any;
const change = (spec: object) => deployments().patch('web', { type: 'merge', changes: { spec } });

/** Returns the desired sizes of the replica sets, the oldest first. */
const sizes = async () =>
  [...(await sets())].sort((a, b) => Number(revision(a)) - Number(revision(b))).map(({ spec }) => spec.replicas);
const revision = ({ metadata }: { metadata: { readonly annotations?: Readonly<Record<string, string>> } }) =>
  metadata.annotations?.['deployment.kubernetes.io/revision'];
const makeAllReady = async () => {
  for (const pod of await pods()) {
    if (pod.status.phase !== 'Running') await makeReady(cluster.client, pod, cluster.clock.now());
  }
};

/** Waits until all pods are new and available, and the status reports it. */
const rolledOut = () =>
  cluster.eventually(async () => {
    const { metadata, spec, status } = await get();
    return (
      status.observedGeneration === metadata.generation &&
      status.updatedReplicas === spec.replicas &&
      status.replicas === spec.replicas &&
      status.availableReplicas === spec.replicas
    );
  });

describe('a deployment', () => {
  it('creates its pods through a ReplicaSet, with a status and events', async () => {
    await deployments().create(web());
    await rolledOut();
    const [set] = await sets();
    expect(await pods()).toHaveLength(3);
    expect((await pods()).every(({ metadata }) => metadata.name?.startsWith(`${set?.metadata.name}-`))).toBe(true);
    const { status, metadata } = await get();
    expect(metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
    expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect(status.unavailableReplicas).toBeUndefined();
    expect(status.conditions).toMatchObject([
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      {
        type: 'Progressing',
        status: 'True',
        reason: 'NewReplicaSetAvailable',
        message: `ReplicaSet "${set?.metadata.name}" has successfully progressed.`,
      },
    ]);
    expect(set?.status).toMatchObject({ replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect(await said('Deployment')).toEqual([`Scaled up replica set ${set?.metadata.name} from 0 to 3`]);
    expect((await said('ReplicaSet')).sort()).toEqual(
      (await pods()).map(({ metadata: { name } }) => `Created pod: ${name}`).sort(),
    );
    expect(cluster.complaints).toEqual([]);
  });

  it('rolls out a new template within maxSurge and maxUnavailable', async () => {
    await deployments().create(web({ replicas: 8 }));
    await rolledOut();
    let fewest = 8;
    let most = 8;
    cluster.becomesReady = () => true;
    const look = async () => {
      const all = (await pods()).filter(({ metadata }) => !metadata.deletionTimestamp);
      const available = all.filter(({ status }) => status.conditions?.some(({ type }) => type === 'Ready'));
      fewest = Math.min(fewest, available.length);
      most = Math.max(most, all.length);
    };
    await change({ template: template('two') });
    await cluster.eventually(async () => {
      await look();
      const { status } = await get();
      return status.observedGeneration === 2 && status.updatedReplicas === 8 && status.replicas === 8;
    });
    await rolledOut();
    expect(fewest).toBeGreaterThanOrEqual(6);
    expect(most).toBeLessThanOrEqual(10);
    expect((await pods()).map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(8).fill('two'));
    expect((await sets()).map(({ spec }) => spec.replicas).sort()).toEqual([0, 8]);
  });

  it('keeps its proportions when it is scaled during a rollout, and continues', async () => {
    await deployments().create(web({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }));
    await rolledOut();
    cluster.becomesReady = ({ spec }) => spec.containers[0].image !== 'two';
    await change({ template: template('two') });
    await cluster.eventually(async () => (await sizes()).join() === '8,5');
    await change({ replicas: 30 });
    await cluster.eventually(async () => (await sizes()).join() === '20,13');
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    expect(await sizes()).toEqual([0, 30]);
  });

  it('waits while it is paused, can be scaled, and applies all changes when resumed', async () => {
    await deployments().create(web());
    await rolledOut();
    await change({ paused: true, template: template('two') });
    await cluster.eventually(async () => (await condition('Progressing'))?.reason === 'DeploymentPaused');
    expect(await condition('Progressing')).toMatchObject({ status: 'Unknown', message: 'Deployment is paused' });
    await change({ replicas: 5, template: template('three') });
    await cluster.eventually(async () => (await sizes()).join() === '5');
    await cluster.clock.advance(1_200_000);
    expect((await condition('Progressing'))?.reason).toBe('DeploymentPaused');
    await change({ paused: false });
    await rolledOut();
    expect((await sets()).map(({ spec }) => spec.template.spec?.containers[0]?.image).sort()).toEqual(['one', 'three']);
  });

  it('ends all old pods before the first new one with Recreate', async () => {
    await deployments().create(web({ strategy: { type: 'Recreate' } }));
    await rolledOut();
    const first = (await pods()).map(({ metadata }) => metadata.name ?? '');
    const kept = first[0] ?? '';
    await cluster.client
      .of(Pod)
      .in('x')
      .patch(kept, {
        type: 'merge',
        changes: { metadata: { finalizers: ['example.com/wait'] } },
      });
    await change({ template: template('two') });
    await cluster.eventually(async () => (await pods()).length === 1);
    await cluster.clock.advance(10_000);
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual([kept]);
    await cluster.client
      .of(Pod)
      .in('x')
      .patch(kept, { type: 'merge', changes: { metadata: { finalizers: null } } });
    await rolledOut();
    expect((await pods()).map(({ spec }) => spec.containers[0]?.image)).toEqual(['two', 'two', 'two']);
  });

  it('reports when it makes no progress in time, and continues', async () => {
    await deployments().create(web({ progressDeadlineSeconds: 60 }));
    await rolledOut();
    cluster.becomesReady = () => false;
    await change({ template: template('two') });
    await cluster.eventually(async () => (await sets()).length === 2);
    await cluster.clock.advance(55_000);
    expect((await condition('Progressing'))?.reason).toBe('ReplicaSetUpdated');
    await cluster.clock.advance(10_000);
    const fresh = (await sets()).find(({ spec }) => spec.template.spec?.containers[0]?.image === 'two');
    await cluster.eventually(async () => (await condition('Progressing'))?.status === 'False');
    expect(await condition('Progressing')).toMatchObject({
      reason: 'ProgressDeadlineExceeded',
      message: `ReplicaSet "${fresh?.metadata.name}" has timed out progressing.`,
    });
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    expect((await condition('Progressing'))?.reason).toBe('NewReplicaSetAvailable');
  });

  it('rolls back to an earlier revision, with an event', async () => {
    const cause = 'kubernetes.io/change-cause';
    await deployments().create(web({}, { annotations: { [cause]: 'first' } }));
    await rolledOut();
    const changes = { metadata: { annotations: { [cause]: 'second' } }, spec: { template: template('two') } };
    await deployments().patch('web', { type: 'merge', changes });
    await rolledOut();
    const rollback = {
      kind: 'DeploymentRollback',
      apiVersion: 'apps/v1beta1',
      name: 'web',
      rollbackTo: { revision: 1 },
    };
    const old = cluster.client.of(Deployment, 'apps/v1beta1').in('x');
    await old.subresource('web', 'rollback').create(rollback);
    await cluster.eventually(async () => (await get()).spec.template.spec?.containers[0]?.image === 'one');
    await rolledOut();
    const { metadata } = await get();
    expect(metadata.annotations).toMatchObject({ [cause]: 'first', 'deployment.kubernetes.io/revision': '3' });
    expect((await old.get('web')).spec.rollbackTo).toBeUndefined();
    const [first] = (await sets()).filter(({ spec }) => spec.replicas > 0);
    expect(first?.metadata.annotations).toMatchObject({
      [cause]: 'first',
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/revision-history': '1',
    });
    expect(await said('Deployment')).toContain('Rolled back deployment "web" to revision 1');

    await old.subresource('web', 'rollback').create({ ...rollback, rollbackTo: { revision: 9 } });
    await cluster.eventually(async () =>
      (await said('Deployment')).includes('Unable to find the revision to rollback to.'),
    );
    await old.subresource('web', 'rollback').create({ ...rollback, rollbackTo: { revision: 3 } });
    const unchanged = 'The rollback revision contains the same template as current deployment "web"';
    await cluster.eventually(async () => (await said('Deployment')).includes(unchanged));
    expect((await old.get('web')).spec.rollbackTo).toBeUndefined();
    const reasons = (await events()).map(({ reason }) => reason);
    expect(reasons).toContain('DeploymentRollback');
    expect(reasons).toContain('DeploymentRollbackRevisionNotFound');
    expect(reasons).toContain('DeploymentRollbackTemplateUnchanged');
  });

  it('keeps the annotations that come with a rollback, and only them', async () => {
    const cause = 'kubernetes.io/change-cause';
    await deployments().create(web({}, { annotations: { [cause]: 'first', other: 'first' } }));
    await rolledOut();
    const annotations = { [cause]: 'second', other: 'second', added: 'second' };
    const changes = { metadata: { annotations }, spec: { template: template('two') } };
    await deployments().patch('web', { type: 'merge', changes });
    await rolledOut();
    const old = cluster.client.of(Deployment, 'apps/v1beta1').in('x');
    await old.subresource('web', 'rollback').create({
      ...{ kind: 'DeploymentRollback', apiVersion: 'apps/v1beta1', name: 'web', rollbackTo: { revision: 1 } },
      updatedAnnotations: { [cause]: 'rolled back', why: 'it was broken' },
    });
    await cluster.eventually(async () => (await get()).spec.template.spec?.containers[0]?.image === 'one');
    await rolledOut();
    expect((await get()).metadata.annotations).toEqual({
      [cause]: 'rolled back',
      why: 'it was broken',
      other: 'first',
      'deployment.kubernetes.io/revision': '3',
    });
    const [present] = (await sets()).filter(({ spec }) => spec.replicas > 0);
    expect(present?.metadata.annotations).toMatchObject({ [cause]: 'rolled back', why: 'it was broken' });
    expect(Object.keys(present?.metadata.annotations ?? {}).filter((key) => key.includes('rollback'))).toEqual([]);
  });

  it('keeps old revisions up to the limit of its API version', async () => {
    const old = cluster.client.of(Deployment, 'apps/v1beta1').in('x');
    await old.create({ ...web(), apiVersion: 'apps/v1beta1', kind: 'Deployment' });
    for (const image of ['one', 'two', 'three', 'four', 'five']) {
      await change({ template: template(image) });
      await rolledOut();
    }
    await cluster.eventually(async () => (await sets()).length === 3);
    const images = (await sets()).map(({ spec }) => spec.template.spec?.containers[0]?.image);
    expect(images.sort()).toEqual(['five', 'four', 'three']);
  });

  it('uses another name when that of its ReplicaSet is taken', async () => {
    const made = await deployments().create(web());
    await rolledOut();
    const [set] = await sets();
    await deployments().delete('web', { propagationPolicy: 'Orphan' });
    expect(made.metadata.name).toBe('web');
    const { name, labels } = set?.metadata ?? {};
    await cluster.client
      .of(ReplicaSet)
      .in('x')
      .delete(name ?? '');
    const foreign = { ...web().spec, replicas: 0, selector: { matchLabels: { app: 'other' } } };
    const other = { ...foreign, template: { ...template('one'), metadata: { labels: { app: 'other' } } } };
    await cluster.client.of(ReplicaSet).create({ metadata: { name, namespace: 'x' }, spec: other } as never);
    await cluster.eventually(async () => !(await deployments().list()).items.length);
    await deployments().create(web());
    await rolledOut();
    expect((await get()).status.collisionCount).toBe(1);
    const ours = (await sets()).find(({ spec }) => spec.replicas === 3);
    expect(ours?.metadata.name).not.toBe(name);
    expect(ours?.metadata.labels?.['pod-template-hash']).not.toBe(labels?.['pod-template-hash']);
  });

  it('counts a pod as available only after minReadySeconds', async () => {
    await deployments().create(web({ minReadySeconds: 30 }));
    await cluster.eventually(async () => (await get()).status.readyReplicas === 3);
    expect((await get()).status.availableReplicas).toBeUndefined();
    expect(await condition('Available')).toMatchObject({
      status: 'False',
      reason: 'MinimumReplicasUnavailable',
      message: 'Deployment does not have minimum availability.',
    });
    await cluster.clock.advance(25_000);
    expect((await get()).status.availableReplicas).toBeUndefined();
    await cluster.clock.advance(6000);
    await rolledOut();
    expect((await condition('Available'))?.status).toBe('True');
  });

  it('reports why its pods cannot be created, until they are', async () => {
    await cluster.client.of(ResourceQuota).create({
      metadata: { name: 'q', namespace: 'x' },
      spec: { hard: { pods: '2' } },
    } as never);
    await cluster.eventually(async () => {
      const { status } = await cluster.client.of(ResourceQuota).in('x').get('q');
      return status.used?.pods === '0';
    });
    await deployments().create(web());
    await cluster.eventually(async () => (await condition('ReplicaFailure')) !== undefined);
    expect(await condition('ReplicaFailure')).toMatchObject({ status: 'True', reason: 'FailedCreate' });
    expect((await condition('ReplicaFailure'))?.message).toContain('exceeded quota: q');
    const failed = (await events()).find(({ reason }) => reason === 'FailedCreate');
    expect(failed?.message).toMatch(/^Error creating: pods "web-.* is forbidden: exceeded quota: q/);
    await cluster.client.of(ResourceQuota).in('x').delete('q');
    await cluster.clock.advance(300_000);
    await rolledOut();
    expect(await condition('ReplicaFailure')).toBeUndefined();
  });

  it('adopts a ReplicaSet and pods without a controller, and releases a pod that no longer matches', async () => {
    await deployments().create(web());
    await rolledOut();
    const [set] = await sets();
    const [pod] = await pods();
    const { name = '' } = pod?.metadata ?? {};
    const all = cluster.client.of(Pod).in('x');
    await all.patch(name, { type: 'merge', changes: { metadata: { labels: { app: 'mine' } } } });
    await cluster.eventually(async () => (await pods()).length === 4);
    await cluster.eventually(async () => !(await all.get(name)).metadata.ownerReferences?.length);
    await all.patch(name, { type: 'merge', changes: { metadata: { labels: { app: 'web' } } } });
    await cluster.eventually(async () => (await pods()).length === 3);
    await cluster.client
      .of(ReplicaSet)
      .in('x')
      .patch(set?.metadata.name ?? '', {
        type: 'merge',
        changes: { metadata: { ownerReferences: null } },
      });
    await cluster.eventually(async () => (await sets())[0]?.metadata.ownerReferences?.[0]?.name === 'web');
    expect(await sets()).toHaveLength(1);
  });
});
