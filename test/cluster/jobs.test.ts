import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Job } from '../../src/kinds/groups/batch/job.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../src/kinds/groups/core/quota/resource-quota.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startCluster({ admission: admissionPlugins() });
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const jobs = () => cluster.client.of(Job).in('x');
const get = (name = 'work') => jobs().get(name);
const allPods = async () => (await cluster.client.of(Pod).in('x').list()).items;
const pods = async () =>
  (await allPods()).filter(({ metadata, status }) => !metadata.deletionTimestamp && !isOver(status));
const isOver = ({ phase }: { phase?: string }) => phase === 'Succeeded' || phase === 'Failed';
const condition = async (type: string) => (await get()).status.conditions?.find((each) => each.type === type);
const events = async () =>
  (await cluster.client.of(Event).in('x').list()).items.filter(({ involvedObject }) => involvedObject.kind === 'Job');
const reasons = async () => (await events()).map(({ reason }) => reason);
const now = () => `${new Date(cluster.clock.now()).toISOString().slice(0, 19)}Z`;

const template = (spec: object = {}) => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }], ...spec },
});
const create = (spec: object = {}, name = 'work') =>
  jobs().create({ metadata: { name, namespace: 'x' }, spec: { template: template(), ...spec } } as never);
const change = (spec: object) => jobs().patch('work', { type: 'merge', changes: { spec } });
const running = (count: number) => cluster.eventually(async () => (await pods()).length === count);
const is = (type: string) => cluster.eventually(async () => (await condition(type))?.status === 'True');

/** Ends the pod with this exit code, as its node would report. */
const end = async (pod: any, exitCode = 0) => {
  const terminated = { exitCode, finishedAt: now(), reason: exitCode === 0 ? 'Completed' : 'Error' };
  const status = {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      { name: 'main', image: 'busybox', imageID: '', ready: false, restartCount: 0, state: { terminated } },
    ],
  };
  await cluster.client.of(Pod).in('x').patchStatus(pod.metadata.name, { type: 'merge', changes: { status } });
};
const endAll = async (exitCode = 0) => {
  for (const pod of await pods()) await end(pod, exitCode);
};
const index = ({ metadata }: any) => Number(metadata.annotations['batch.kubernetes.io/job-completion-index']);
const tracked = async () =>
  (await allPods()).filter(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking'));

describe('a job', () => {
  it('created: the controller acknowledges it, sets status.startTime, and status.active counts running pods made from the template', async () => {
    const time = now();
    await create({ completions: 3, parallelism: 2 });
    await cluster.eventually(async () => (await get()).status.active === 2);
    const { status, metadata } = await get();
    expect(status).toEqual({ startTime: time, active: 2, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    const [pod] = await pods();
    expect(pod?.spec.containers).toMatchObject([{ name: 'main', image: 'busybox' }]);
    expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'work', controller: true }]);
    expect(pod?.metadata.labels).toMatchObject({ 'job-name': 'work', 'controller-uid': metadata.uid });
    expect(pod?.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
    for (const each of await pods()) await makeReady(cluster.client, each, cluster.clock.now());
    await cluster.eventually(async () => (await get()).status.ready === 2);
    expect((await events()).map(({ message }) => message)).toContain(`Created pod: ${pod?.metadata.name}`);
  });

  it('parallelism is the most pods at a time, completions how many must succeed', async () => {
    await create({ completions: 5, parallelism: 2 });
    for (const left of [5, 4, 3, 2, 1]) {
      await running(Math.min(2, left));
      await end((await pods())[0]);
      await cluster.eventually(async () => ((await get()).status.succeeded ?? 0) === 6 - left);
    }
    await is('Complete');
    const { status } = await get();
    expect(status).toMatchObject({ succeeded: 5, completionTime: now(), uncountedTerminatedPods: {} });
    expect(status.active).toBeUndefined();
    expect(status.failed).toBeUndefined();
    const words = {
      status: 'True',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    };
    expect(status.conditions).toMatchObject([
      { type: 'SuccessCriteriaMet', ...words },
      { type: 'Complete', ...words },
    ]);
    expect(await tracked()).toEqual([]);
    await cluster.eventually(async () => (await reasons()).includes('Completed'));
    expect((await events()).find(({ reason }) => reason === 'Completed')?.message).toBe('Job completed');
    expect(await allPods()).toHaveLength(5);
  });

  it('completions nil: any pod success signals job success', async () => {
    await create({ parallelism: 3 });
    await running(3);
    await end((await pods())[0]);
    await cluster.eventually(async () => (await get()).status.succeeded === 1);
    await cluster.clock.advance(5000);
    expect(await pods()).toHaveLength(2);
    expect(await condition('Complete')).toBeUndefined();
    await endAll(1);
    await is('Complete');
    expect((await get()).status).toMatchObject({ succeeded: 1, failed: 2 });
  });

  it('activeDeadlineSeconds is relative to startTime: then it has failed and its pods are deleted', async () => {
    await create({ activeDeadlineSeconds: 30, completions: 2, parallelism: 2 });
    await running(2);
    await cluster.clock.advance(29_000);
    expect(await pods()).toHaveLength(2);
    await cluster.clock.advance(1500);
    await is('Failed');
    const words = { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
    expect((await get()).status.conditions).toMatchObject([
      { type: 'FailureTarget', ...words },
      { type: 'Failed', ...words },
    ]);
    expect(await allPods()).toEqual([]);
    expect((await get()).status).toMatchObject({ failed: 2, terminating: 0 });
    expect((await get()).status.completionTime).toBeUndefined();
    await cluster.eventually(async () => (await reasons()).includes('DeadlineExceeded'));
  });

  it('retries with back-off after failures, until backoffLimit', async () => {
    await create({ backoffLimit: 2 });
    for (const [failures, wait] of [
      [1, 10_000],
      [2, 20_000],
    ] as const) {
      await running(1);
      await endAll(1);
      await cluster.eventually(async () => (await get()).status.failed === failures);
      await cluster.clock.advance(wait - 1500);
      expect(await pods()).toHaveLength(0);
      await cluster.clock.advance(1500);
    }
    await running(1);
    await endAll(1);
    await is('Failed');
    expect(await condition('Failed')).toMatchObject({
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    });
    expect((await get()).status.failed).toBe(3);
    await cluster.eventually(async () => (await reasons()).includes('BackoffLimitExceeded'));
  });

  it('backs off after a deleted pod as after a failed one', async () => {
    await create();
    await running(1);
    const [pod] = await pods();
    await cluster.client
      .of(Pod)
      .in('x')
      .delete(pod?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    await cluster.eventually(async () => (await get()).status.failed === 1);
    expect(await allPods()).toHaveLength(0);
    await cluster.clock.advance(8000);
    expect(await allPods()).toHaveLength(0);
    await cluster.clock.advance(2500);
    await running(1);
  });

  it('counts restarts of containers beyond the cap of the status', async () => {
    await create({ backoffLimit: 8, template: template({ restartPolicy: 'OnFailure' }) });
    await running(1);
    const [pod] = await pods();
    const { name = '' } = pod?.metadata ?? {};
    const restarted = (count: number) => ({
      metadata: { annotations: { 'kubernetes.io/restart-counts': JSON.stringify({ main: count }) } },
    });
    const state = { running: { startedAt: now() } };
    const status = { name: 'main', image: 'busybox', imageID: '', ready: true, restartCount: 5, state };
    const changes = { status: { phase: 'Running', containerStatuses: [status] } };
    await cluster.client.of(Pod).in('x').patchStatus(name, { type: 'merge', changes });
    await cluster.client
      .of(Pod)
      .in('x')
      .patch(name, { type: 'merge', changes: restarted(7) });
    await cluster.clock.advance(5000);
    expect(await condition('Failed')).toBeUndefined();
    await cluster.client
      .of(Pod)
      .in('x')
      .patch(name, { type: 'merge', changes: restarted(8) });
    await is('Failed');
    expect(await condition('Failed')).toMatchObject({ reason: 'BackoffLimitExceeded' });
  });

  it('suspended deletes its pods without counting them, and restarts when it is resumed', async () => {
    await create({ parallelism: 2, completions: 2, activeDeadlineSeconds: 60 });
    await running(2);
    await cluster.clock.advance(50_000);
    await change({ suspend: true });
    await is('Suspended');
    await cluster.eventually(async () => (await allPods()).length === 0);
    await cluster.eventually(async () => (await get()).status.terminating === 0);
    expect(await condition('Suspended')).toMatchObject({ reason: 'JobSuspended', message: 'Job suspended' });
    const suspended = (await get()).status;
    expect([suspended.active, suspended.failed, suspended.startTime]).toEqual([undefined, undefined, undefined]);
    await cluster.clock.advance(100_000);
    await change({ suspend: false });
    await running(2);
    await cluster.eventually(async () => (await condition('Suspended'))?.status === 'False');
    expect(await condition('Suspended')).toMatchObject({ reason: 'JobResumed', message: 'Job resumed' });
    expect(Date.parse((await get()).status.startTime ?? '')).toBeGreaterThan(cluster.clock.now() - 5000);
    await cluster.clock.advance(30_000);
    expect(await pods()).toHaveLength(2);
    await cluster.eventually(async () => (await reasons()).includes('Resumed'));
    expect(await reasons()).toContain('Suspended');
  });

  it('created suspended has no pods and no start', async () => {
    await create({ suspend: true });
    await is('Suspended');
    expect((await get()).status.startTime).toBeUndefined();
    expect(await allPods()).toEqual([]);
  });

  it('indexed: each index succeeds once, with its name, label, annotation and variable', async () => {
    await create({ completionMode: 'Indexed', completions: 4, parallelism: 4 });
    await running(4);
    const all = await pods();
    expect(all.map(index).sort()).toEqual([0, 1, 2, 3]);
    const third = all.find((pod) => index(pod) === 2) as any;
    expect(third.metadata.name).toMatch(/^work-2-[a-z0-9]{5}$/);
    expect(third.metadata.labels['batch.kubernetes.io/job-completion-index']).toBe('2');
    expect(third.spec.hostname).toBe('work-2');
    const fieldPath = "metadata.labels['batch.kubernetes.io/job-completion-index']";
    expect(third.spec.containers[0].env).toMatchObject([
      { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } },
    ]);
    for (const pod of all) if (index(pod) !== 1) await end(pod);
    await cluster.eventually(async () => (await get()).status.completedIndexes === '0,2,3');
    expect((await get()).status.succeeded).toBe(3);
    await end(
      all.find((pod) => index(pod) === 1),
      1,
    );
    await cluster.clock.advance(11_000);
    await running(1);
    expect((await pods()).map(index)).toEqual([1]);
    await endAll();
    await is('Complete');
    expect((await get()).status).toMatchObject({ completedIndexes: '0-3', succeeded: 4, failed: 1 });
  });

  it('limits failures for each index, and finishes when all indexes have', async () => {
    await create({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 });
    await running(2);
    await end((await pods()).find((pod) => index(pod) === 0));
    await end(
      (await pods()).find((pod) => index(pod) === 1),
      1,
    );
    await cluster.eventually(async () => (await get()).status.completedIndexes === '0');
    await cluster.clock.advance(11_000);
    await running(1);
    const [retried] = await pods();
    expect(retried?.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count']).toBe('1');
    await endAll(1);
    await is('Failed');
    expect(await condition('Failed')).toMatchObject({ reason: 'FailedIndexes', message: 'Job has failed indexes' });
    expect((await get()).status).toMatchObject({ completedIndexes: '0', failedIndexes: '1', failed: 2, succeeded: 1 });
    expect(await tracked()).toEqual([]);
  });

  it('fails above maxFailedIndexes', async () => {
    const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 1 };
    await create({ completionMode: 'Indexed', completions: 5, parallelism: 3, ...limits });
    await running(3);
    for (const pod of (await pods()).slice(0, 2)) await end(pod, 1);
    await is('Failed');
    expect(await condition('Failed')).toMatchObject({
      reason: 'MaxFailedIndexesExceeded',
      message: 'Job has exceeded the specified maximal number of failed indexes',
    });
  });

  it('succeeds as soon as its success policy is met, and ends the rest', async () => {
    const successPolicy = { rules: [{ succeededIndexes: '1-2', succeededCount: 1 }] };
    await create({ completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy });
    await running(3);
    await end((await pods()).find((pod) => index(pod) === 2));
    await is('Complete');
    expect(await condition('Complete')).toMatchObject({ reason: 'SuccessPolicy', message: 'Matched rules at index 0' });
    expect((await get()).status).toMatchObject({ succeeded: 1, completedIndexes: '2', terminating: 0 });
    expect((await get()).status.failed).toBeUndefined();
    expect(await pods()).toEqual([]);
  });

  it('follows its pod failure policy', async () => {
    const rules = [
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    ];
    await create({ podFailurePolicy: { rules }, backoffLimit: 0, parallelism: 2, completions: 2 });
    await running(2);
    const [first, second] = await pods();
    const conditions = [{ type: 'DisruptionTarget', status: 'True' }];
    const disrupted = { status: { phase: 'Failed', conditions } };
    const name = first?.metadata.name ?? '';
    await cluster.client.of(Pod).in('x').patchStatus(name, { type: 'strategic', changes: disrupted });
    await cluster.clock.advance(15_000);
    await running(2);
    expect((await get()).status.failed).toBeUndefined();
    await end(second, 42);
    await is('Failed');
    const found = `Container main for pod x/${second?.metadata.name} failed with exit code 42`;
    expect(await condition('Failed')).toMatchObject({
      reason: 'PodFailurePolicy',
      message: `${found} matching FailJob rule at index 1`,
    });
  });

  it('replaces a pod only once it has failed, with podReplacementPolicy: Failed', async () => {
    await create({ podReplacementPolicy: 'Failed' });
    await running(1);
    const [pod] = await pods();
    const { name = '' } = pod?.metadata ?? {};
    await cluster.client.of(Pod).in('x').delete(name);
    await cluster.eventually(async () => (await get()).status.terminating === 1);
    await cluster.clock.advance(25_000);
    expect(await allPods()).toHaveLength(1);
    expect((await get()).status.failed).toBeUndefined();
    await end(pod, 137);
    await cluster.eventually(async () => (await get()).status.failed === 1);
    await cluster.clock.advance(11_000);
    await running(1);
  });

  it('is ignored when another controller manages it', async () => {
    await create({ managedBy: 'example.com/other' });
    await cluster.clock.advance(5000);
    expect((await get()).status).toEqual({});
    expect(await allPods()).toEqual([]);
  });

  it('scales with its parallelism', async () => {
    await create({ parallelism: 4, completions: 10 });
    await running(4);
    await change({ parallelism: 1 });
    await running(1);
    await cluster.eventually(async () => (await get()).status.active === 1);
    expect((await get()).status.failed).toBeUndefined();
    await change({ parallelism: 3 });
    await running(3);
  });

  it('reports why its pods cannot be created, and keeps counting', async () => {
    await cluster.client.of(ResourceQuota).create({
      metadata: { name: 'q', namespace: 'x' },
      spec: { hard: { pods: '1' } },
    } as never);
    await cluster.eventually(async () => {
      const { status } = await cluster.client.of(ResourceQuota).in('x').get('q');
      return status.used?.pods === '0';
    });
    await create({ parallelism: 2, completions: 2 });
    await cluster.eventually(async () => (await reasons()).includes('FailedCreate'));
    const failed = (await events()).find(({ reason }) => reason === 'FailedCreate');
    expect(failed?.message).toMatch(/^Error creating: pods "work-.* is forbidden: exceeded quota: q/);
    await cluster.eventually(async () => (await get()).status.active === 1);
    expect((await get()).status.startTime).toBeDefined();
    await endAll();
    await cluster.eventually(async () => (await get()).status.succeeded === 1);
    await cluster.client.of(ResourceQuota).in('x').delete('q');
    await cluster.clock.advance(300_000);
    await running(1);
  });

  it('untracks its pods when it is deleted, whatever happens to them', async () => {
    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
      await create({ parallelism: 2, completions: 2 });
      await running(2);
      await jobs().delete('work', { propagationPolicy });
      await cluster.eventually(async () => (await jobs().list()).items.length === 0);
      await cluster.eventually(async () => (await tracked()).length === 0);
      if (propagationPolicy === 'Orphan') expect(await pods()).toHaveLength(2);
      else await cluster.eventually(async () => (await allPods()).length === 0);
    }
  });

  it('adopts pods without a controller, and releases those that no longer match', async () => {
    const labels = { mine: 'yes' };
    const orphan = { metadata: { name: 'orphan', namespace: 'x', labels }, spec: template().spec };
    await cluster.client.of(Pod).create(orphan as never);
    const chosen = { manualSelector: true, selector: { matchLabels: labels } };
    await create({ ...chosen, template: { ...template(), metadata: { labels } }, completions: 2, parallelism: 2 });
    await running(2);
    await cluster.eventually(async () => {
      const { metadata } = await cluster.client.of(Pod).in('x').get('orphan');
      return metadata.ownerReferences?.[0]?.name === 'work' && metadata.finalizers?.length === 1;
    });
    const changes = { metadata: { labels: { mine: 'no' } } };
    await cluster.client.of(Pod).in('x').patch('orphan', { type: 'merge', changes });
    await running(3);
    await cluster.eventually(async () => {
      const { metadata } = await cluster.client.of(Pod).in('x').get('orphan');
      return !metadata.ownerReferences?.length && !metadata.finalizers?.length;
    });
  });

  it('is deleted its TTL after it finished, and a changed TTL is honored', async () => {
    await create({ ttlSecondsAfterFinished: 100 });
    await running(1);
    await endAll();
    await is('Complete');
    await cluster.clock.advance(90_000);
    await change({ ttlSecondsAfterFinished: 200 });
    await cluster.clock.advance(50_000);
    expect((await get()).metadata.deletionTimestamp).toBeUndefined();
    await change({ ttlSecondsAfterFinished: 120 });
    await cluster.eventually(async () => (await jobs().list()).items.length === 0);
    await cluster.eventually(async () => (await allPods()).length === 0);
  });

  it('logs no warnings', async () => {
    await create({ completions: 20, parallelism: 10, backoffLimit: 50 });
    for (let round = 0; round < 8 && !(await condition('Complete')); round++) {
      await cluster.eventually(async () => (await pods()).length > 0 || (await condition('Complete')) !== undefined);
      const [first, ...others] = await pods();
      if (first) await end(first, round % 2);
      for (const pod of others) await end(pod);
      await cluster.clock.advance(12_000);
    }
    await is('Complete');
    expect((await get()).status.succeeded).toBe(20);
    expect(cluster.complaints).toEqual([]);
  });
});
