import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerRevision } from '../../src/kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../src/kinds/groups/apps/daemon-set.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type LivingCluster, startLivingCluster } from '../support/cluster/living-cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: LivingCluster;

beforeEach(async () => {
  cluster = await startLivingCluster();
});
afterEach(() => cluster.stop());

const sets = () => cluster.client.of(DaemonSet).in('x');
const old = () => cluster.client.of(DaemonSet, 'extensions/v1beta1').in('x');
const get = () => sets().get('agent');
const pods = async () => (await cluster.client.of(Pod).in('x').list()).items;
const revisions = async () =>
  [...(await cluster.client.of(ControllerRevision).in('x').list()).items].sort((a, b) => a.revision - b.revision);
const events = async () => (await cluster.client.of(Event).in('x').list()).items;
const merge = (changes: object) => ({ type: 'merge', changes }) as const;
const change = (spec: object) => sets().patch('agent', merge({ spec }));

const template = (image: string, spec: object = {}) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'c', image }], ...spec },
});
const agent = (spec: object = {}, metadata: object = {}) =>
  ({
    metadata: { name: 'agent', namespace: 'x', ...metadata },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('one'), ...spec },
  }) as any;

/** A ready node: the taint of new nodes is removed. */
async function join(name: string, labels: Record<string, string> = {}): Promise<void> {
  await cluster.client.of(Node).create({ metadata: { name, labels } });
  await taint(name);
}
const taint = (name: string, ...taints: object[]) =>
  cluster.client.of(Node).patch(name, merge({ spec: { taints: taints.length > 0 ? taints : null } }));
const joinAll = async (count: number) => {
  for (let at = 0; at < count; at++) await join(`n${at}`);
};

const nodeOf = ({ spec }: any): string =>
  spec.nodeName ??
  spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]
    .values[0];
const onNodes = async () => (await pods()).map(nodeOf).sort();
const images = async () => (await pods()).map(({ spec }) => spec.containers[0]?.image ?? '').sort();
const isAvailable = ({ status }: any) =>
  status.conditions?.some(({ type, status: is }: any) => type === 'Ready' && is === 'True') ?? false;
const makeAllReady = async () => {
  for (const pod of await pods()) if (!isAvailable(pod)) await makeReady(cluster.client, pod, cluster.clock.now());
};

const rolledOut = () =>
  cluster.eventually(async () => {
    const { metadata, status } = await get();
    const wanted = status.desiredNumberScheduled;
    return (
      wanted > 0 &&
      status.observedGeneration === metadata.generation &&
      status.updatedNumberScheduled === wanted &&
      status.numberAvailable === wanted
    );
  });

describe('a DaemonSet, as the specification says', () => {
  it('template: one pod per node matching the template node selector', async () => {
    await join('a', { disk: 'ssd' });
    await join('b');
    await sets().create(agent({ template: template('one', { nodeSelector: { disk: 'ssd' } }) }));
    await rolledOut();
    expect(await onNodes()).toEqual(['a']);
    await cluster.client.of(Node).patch('b', merge({ metadata: { labels: { disk: 'ssd' } } }));
    await cluster.eventually(async () => (await onNodes()).join() === 'a,b');
    await cluster.client.of(Node).patch('a', merge({ metadata: { labels: { disk: null } } }));
    await cluster.eventually(async () => (await onNodes()).join() === 'b');
  });

  it('template: or every node', async () => {
    await joinAll(3);
    await sets().create(agent());
    await rolledOut();
    expect(await onNodes()).toEqual(['n0', 'n1', 'n2']);
    await join('later');
    await cluster.eventually(async () => (await onNodes()).includes('later'));
    await cluster.eventually(async () => (await get()).status.numberAvailable === 4);
    expect((await get()).status.desiredNumberScheduled).toBe(4);
    expect(cluster.complaints).toEqual([]);
  });

  it('selector: defaults to template labels', async () => {
    await joinAll(2);
    const { selector: _, ...spec } = agent().spec;
    await old().create({ ...agent(), apiVersion: 'extensions/v1beta1', kind: 'DaemonSet', spec } as never);
    await cluster.eventually(async () => (await pods()).length === 2);
    expect((await old().get('agent')).spec.selector).toEqual({ matchLabels: { app: 'agent' } });
  });

  it('minReadySeconds: default 0', async () => {
    await joinAll(1);
    await sets().create(agent());
    await rolledOut();
    expect((await get()).status.numberAvailable).toBe(1);
    await change({ minReadySeconds: 30, template: template('two') });
    await cluster.eventually(async () => {
      const { observedGeneration, updatedNumberScheduled, numberReady } = (await get()).status;
      return observedGeneration === 2 && updatedNumberScheduled === 1 && numberReady === 1;
    });
    expect((await get()).status).toMatchObject({ numberUnavailable: 1 });
    await cluster.clock.advance(31_000);
    await rolledOut();
    expect((await get()).status.numberUnavailable).toBeUndefined();
  });

  it('revisionHistoryLimit: default 10', async () => {
    await joinAll(1);
    await sets().create(agent());
    for (let at = 0; at < 13; at++) {
      await change({ template: template(`image-${at}`) });
      await rolledOut();
    }
    await cluster.eventually(async () => (await revisions()).length === 11);
    expect((await revisions()).map(({ revision }) => revision)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  it('leaves a revision alone that is created beside its own, until something else happens', async () => {
    await joinAll(1);
    await sets().create(agent());
    await cluster.eventually(async () => (await revisions()).length === 1);
    await cluster.clock.advance(5_000);
    const [first] = await revisions();
    const { uid, resourceVersion, creationTimestamp, ...metadata } = first!.metadata;
    const second = { ...first, metadata: { ...metadata, name: 'agent-second' }, revision: 2 };
    await cluster.client
      .of(ControllerRevision)
      .in('x')
      .create(second as never);
    await cluster.clock.advance(1_000);
    expect((await revisions()).map(({ revision }) => revision)).toEqual([1, 2]);
    await cluster.client
      .of(ControllerRevision)
      .in('x')
      .delete(first!.metadata.name ?? '');
    await cluster.clock.advance(1_000);
    expect((await revisions()).map(({ metadata }) => metadata.name)).toEqual(['agent-second']);
  });

  it('revisionHistoryLimit: pointer, zero keeps none', async () => {
    await joinAll(1);
    await sets().create(agent({ revisionHistoryLimit: 0 }));
    await rolledOut();
    await change({ template: template('two') });
    await rolledOut();
    await cluster.eventually(async () => (await revisions()).length === 1);
  });

  it('templateGeneration: system populated, settable only at creation', async () => {
    await joinAll(1);
    const written = { ...agent({ templateGeneration: 7 }), apiVersion: 'extensions/v1beta1', kind: 'DaemonSet' };
    await old().create(written as never);
    await cluster.eventually(async () => (await pods()).length === 1);
    const generation = async () => (await pods())[0]?.metadata.labels?.['pod-template-generation'];
    expect(await generation()).toBe('7');
    await old().patch('agent', merge({ spec: { templateGeneration: 40, updateStrategy: { type: 'RollingUpdate' } } }));
    expect((await old().get('agent')).spec.templateGeneration).toBe(7);
    await change({ template: template('two') });
    await rolledOut();
    expect((await old().get('agent')).spec.templateGeneration).toBe(8);
    expect(await generation()).toBe('8');
  });

  it('updateStrategy.maxUnavailable: a percentage of status.desiredNumberScheduled, rounded up', async () => {
    await joinAll(5);
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '30%' } };
    await sets().create(agent({ updateStrategy }));
    await rolledOut();
    cluster.becomesReady = () => false;
    await change({ template: template('two') });
    await cluster.eventually(async () => (await images()).join() === 'one,one,one,two,two');
    await cluster.clock.advance(5000);
    expect(await images()).toEqual(['one', 'one', 'one', 'two', 'two']);
    expect((await get()).status).toMatchObject({ numberUnavailable: 2, numberAvailable: 3, updatedNumberScheduled: 2 });
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    expect(await images()).toEqual(Array(5).fill('two'));
  });

  it('updateStrategy.maxUnavailable: an integer, default 1', async () => {
    await joinAll(4);
    await sets().create(agent());
    await rolledOut();
    let fewest = 4;
    await change({ template: template('two') });
    await cluster.eventually(async () => {
      fewest = Math.min(fewest, (await pods()).filter(isAvailable).length);
      return (await get()).status.updatedNumberScheduled === 4;
    });
    await rolledOut();
    expect(fewest).toBeGreaterThanOrEqual(3);
  });

  it('updateStrategy.maxUnavailable: cannot be 0', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } };
    await expect(sets().create(agent({ updateStrategy }))).rejects.toThrow(/cannot be 0 when maxSurge is 0/);
  });

  it('status: all counts are integers of nodes', async () => {
    await joinAll(3);
    cluster.becomesReady = (pod) => nodeOf(pod) !== 'n2';
    await sets().create(agent());
    await cluster.eventually(async () => (await get()).status.numberReady === 2);
    await taint('n1', { key: 'example.com/no', effect: 'NoSchedule' });
    await cluster.eventually(async () => (await get()).status.numberMisscheduled === 1);
    expect((await get()).status).toEqual({
      currentNumberScheduled: 2,
      desiredNumberScheduled: 2,
      numberAvailable: 1,
      numberMisscheduled: 1,
      numberReady: 1,
      numberUnavailable: 1,
      observedGeneration: 1,
      updatedNumberScheduled: 2,
    });
    await taint('n1');
    await cluster.eventually(async () => (await get()).status.numberMisscheduled === 0);
    expect((await get()).status).toMatchObject({ desiredNumberScheduled: 3, numberReady: 2 });
  });

  it('status.collisionCount: how often the name of a revision was taken', async () => {
    await joinAll(1);
    await sets().create(agent());
    await rolledOut();
    const [first] = await revisions();
    await sets().delete('agent', { propagationPolicy: 'Background' });
    await cluster.eventually(async () => (await revisions()).length === 0 && (await pods()).length === 0);
    const { name } = first?.metadata ?? {};
    await cluster.client
      .of(ControllerRevision)
      .create({ metadata: { name, namespace: 'x' }, data: { other: true }, revision: 1 } as never);
    await sets().create(agent());
    await rolledOut();
    expect((await get()).status.collisionCount).toBe(1);
    expect((await revisions()).map(({ metadata }) => metadata.name)).toHaveLength(2);
    expect((await pods())[0]?.metadata.labels?.['controller-revision-hash']).not.toBe(
      first?.metadata.labels?.['controller-revision-hash'],
    );
  });
});

describe('a DaemonSet', () => {
  it('binds its pods to their nodes, with the tolerations of daemons', async () => {
    await joinAll(1);
    await sets().create(agent({ template: template('one', { hostNetwork: true }) }));
    await rolledOut();
    const [pod] = await pods();
    expect(pod?.metadata.generateName).toBe('agent-');
    expect(pod?.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual({
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }],
    });
    expect(pod?.spec.tolerations?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      'node.kubernetes.io/not-ready:NoExecute',
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/disk-pressure:NoSchedule',
      'node.kubernetes.io/memory-pressure:NoSchedule',
      'node.kubernetes.io/pid-pressure:NoSchedule',
      'node.kubernetes.io/unschedulable:NoSchedule',
      'node.kubernetes.io/network-unavailable:NoSchedule',
    ]);
    const [revision] = await revisions();
    const hash = revision?.metadata.labels?.['controller-revision-hash'];
    expect(revision?.metadata.name).toBe(`agent-${hash}`);
    expect(pod?.metadata.labels).toEqual({
      app: 'agent',
      'controller-revision-hash': hash,
      'pod-template-generation': '1',
    });
    const [said] = (await events()).filter(({ reason }) => reason === 'SuccessfulCreate');
    expect(said).toMatchObject({
      message: `Created pod: ${pod?.metadata.name}`,
      source: { component: 'daemonset-controller' },
    });
  });

  it('deletes pods from nodes whose taints they do not tolerate', async () => {
    await joinAll(3);
    await taint('n0', { key: 'dedicated', value: 'db', effect: 'NoSchedule' });
    await sets().create(agent());
    await rolledOut();
    expect(await onNodes()).toEqual(['n1', 'n2']);
    await taint('n1', { key: 'maintenance', effect: 'NoExecute' });
    await cluster.eventually(async () => (await onNodes()).join() === 'n2');
    await cluster.eventually(async () => (await events()).some(({ reason }) => reason === 'SuccessfulDelete'));
    const tolerations = [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }];
    await change({ template: template('one', { tolerations }) });
    await cluster.eventually(async () => (await onNodes()).join() === 'n0,n2');
  });

  it('deletes the pod that waited for a deleted node', async () => {
    await joinAll(2);
    await sets().create(agent());
    await rolledOut();
    await cluster.client.of(Node).delete('n1');
    await cluster.eventually(async () => (await onNodes()).join() === 'n0');
    await cluster.eventually(async () => (await get()).status.desiredNumberScheduled === 1);
  });

  it('waits until pods are deleted with OnDelete', async () => {
    await joinAll(2);
    await sets().create(agent({ updateStrategy: { type: 'OnDelete' } }));
    await cluster.eventually(async () => (await get()).status.numberAvailable === 2);
    await change({ template: template('two') });
    await cluster.eventually(async () => (await get()).status.observedGeneration === 2);
    await cluster.clock.advance(10_000);
    expect(await images()).toEqual(['one', 'one']);
    expect((await get()).status.updatedNumberScheduled).toBeUndefined();
    await cluster.client
      .of(Pod)
      .in('x')
      .delete((await pods())[0]?.metadata.name ?? '');
    await cluster.eventually(async () => (await images()).join() === 'one,two');
  });

  it('starts the new pod before the old one is deleted, with maxSurge', async () => {
    await joinAll(3);
    const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 };
    await sets().create(agent({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await rolledOut();
    cluster.becomesReady = () => false;
    await change({ template: template('two') });
    await cluster.eventually(async () => (await images()).join() === 'one,one,one,two');
    await cluster.clock.advance(5000);
    expect(await images()).toEqual(['one', 'one', 'one', 'two']);
    cluster.becomesReady = () => true;
    await makeAllReady();
    await rolledOut();
    await cluster.eventually(async () => (await images()).join() === 'two,two,two');
  });

  it('replaces failed pods with back-off and events', async () => {
    await joinAll(1);
    await sets().create(agent());
    await rolledOut();
    const fail = async () => {
      const [pod] = await pods();
      const { name = '' } = pod?.metadata ?? {};
      const changes = { status: { phase: 'Failed', conditions: null } };
      await cluster.client.of(Pod).in('x').patchStatus(name, merge(changes));
      return name;
    };
    const isReplaced = (name: string) => async () =>
      (await pods()).every(({ metadata }) => metadata.name !== name) && (await pods()).length === 1;
    const first = await fail();
    await cluster.eventually(isReplaced(first));
    const second = await fail();
    await cluster.clock.advance(200);
    expect(await isReplaced(second)()).toBe(false);
    await cluster.eventually(isReplaced(second));
    const third = await fail();
    await cluster.clock.advance(1500);
    expect(await isReplaced(third)()).toBe(false);
    await cluster.eventually(isReplaced(third));
    const told = (await events()).filter(({ reason }) => reason === 'FailedDaemonPod');
    expect(told[0]).toMatchObject({
      type: 'Warning',
      message: `Found failed daemon pod x/${first} on node n0, will try to kill it`,
    });
  });

  it('rolls back to an earlier template, which becomes the newest revision', async () => {
    await joinAll(2);
    await sets().create(agent());
    await rolledOut();
    await change({ template: template('two') });
    await rolledOut();
    const [first, second] = await revisions();
    expect([first?.revision, second?.revision]).toEqual([1, 2]);
    await sets().patch('agent', { type: 'strategic', changes: first?.data as object });
    await rolledOut();
    expect(await images()).toEqual(['one', 'one']);
    expect((await revisions()).map(({ metadata, revision }) => [metadata.name, revision])).toEqual([
      [second?.metadata.name, 2],
      [first?.metadata.name, 3],
    ]);
  });

  it('adopts orphaned pods and revisions, and touches no others', async () => {
    await joinAll(2);
    await sets().create(agent());
    await rolledOut();
    const before = (await pods()).map(({ metadata }) => metadata.name).sort();
    await cluster.client.of(Pod).create({
      metadata: { name: 'other', namespace: 'x', labels: { app: 'other' } },
      spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n0' },
    } as never);
    await sets().delete('agent', { propagationPolicy: 'Orphan' });
    await cluster.eventually(async () => (await sets().list()).items.length === 0);
    const made = await sets().create(agent());
    await rolledOut();
    const all = await pods();
    expect(all.map(({ metadata }) => metadata.name).sort()).toEqual([...before, 'other'].sort());
    const owners = all.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
    expect(owners.filter((uid) => uid === made.metadata.uid)).toHaveLength(2);
    expect(await revisions()).toHaveLength(1);
    expect((await revisions())[0]?.metadata.ownerReferences?.[0]?.uid).toBe(made.metadata.uid);
  });
});
