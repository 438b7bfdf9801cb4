import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CronJob } from '../../src/kinds/groups/batch/cron-job.ts';
import { Job } from '../../src/kinds/groups/batch/job.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;

/** The clock begins at 2030-01-01T00:00:00Z, a Tuesday. */
beforeEach(async () => {
  cluster = await startCluster();
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const MINUTE = 60_000;
const cronJobs = () => cluster.client.of(CronJob).in('x');
const get = () => cronJobs().get('tick');
const jobs = async () =>
  [...(await cluster.client.of(Job).in('x').list()).items].sort((a, b) =>
    String(a.metadata.name).localeCompare(String(b.metadata.name)),
  );
const names = async () => (await jobs()).map(({ metadata }) => metadata.name);
const events = async () =>
  (await cluster.client.of(Event).in('x').list()).items.filter(
    ({ involvedObject }) => involvedObject.kind === 'CronJob',
  );
const said = async (reason: string) => {
  const found: string[] = [];
  await cluster.eventually(async () => {
    found.splice(
      0,
      found.length,
      ...(await events()).filter((each) => each.reason === reason).map((each) => each.message ?? ''),
    );
    return found.length > 0;
  });
  return found;
};
const reasons = async () => (await events()).map(({ reason }) => reason);

const jobTemplate = {
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};
const create = (spec: object = {}, metadata: object = {}) =>
  cronJobs().create({
    metadata: { name: 'tick', namespace: 'x', ...metadata },
    spec: { schedule: '*/10 * * * *', jobTemplate, ...spec },
  } as never);
const change = (spec: object) => cronJobs().patch('tick', { type: 'merge', changes: { spec } });
const count = (number: number) => cluster.eventually(async () => (await jobs()).length === number);
/** The name of the Job for a minute of the first hour. */
const at = (minute: number) => `tick-${Date.parse('2030-01-01T00:00:00Z') / MINUTE + minute}`;

/** Ends all pods, and waits until their Jobs have finished. */
const finish = async (phase: 'Succeeded' | 'Failed' = 'Succeeded') => {
  await cluster.eventually(async () => {
    const pods = await cluster.client.of(Pod).in('x').list();
    for (const { metadata, status } of pods.items) {
      if (status.phase === 'Succeeded' || status.phase === 'Failed') continue;
      const changes = { status: { phase } };
      await cluster.client
        .of(Pod)
        .in('x')
        .patchStatus(metadata.name ?? '', { type: 'merge', changes });
    }
    return (await jobs()).every(({ status }) =>
      status.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed'),
    );
  });
};
/** Advances the clock to a minute of the first hour. */
const goTo = (minute: number) =>
  cluster.clock.advance(Date.parse('2030-01-01T00:00:00Z') + minute * MINUTE - cluster.clock.now());

describe('a cron job', () => {
  it('starts a Job at each time of its schedule, to the millisecond, and tracks it', async () => {
    await create();
    await cluster.clock.advance(1000);
    await cluster.clock.advance(9 * MINUTE + 58_999);
    expect(await jobs()).toEqual([]);
    await cluster.clock.advance(1);
    await count(1);
    await cluster.eventually(async () => (await get()).status.active?.length === 1);
    const [job] = await jobs();
    expect(job?.metadata).toMatchObject({
      name: at(10),
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2030-01-01T00:10:00Z' },
      ownerReferences: [{ kind: 'CronJob', name: 'tick', controller: true }],
    });
    const { status } = await get();
    expect(status.lastScheduleTime).toBe('2030-01-01T00:10:00Z');
    expect(status.active).toMatchObject([
      { apiVersion: 'batch/v1', kind: 'Job', namespace: 'x', name: at(10), uid: job?.metadata.uid },
    ]);
    expect(await said('SuccessfulCreate')).toEqual([`Created job ${at(10)}`]);
    await finish();
    await cluster.eventually(async () => (await get()).status.active === undefined);
    expect(await said('SawCompletedJob')).toEqual([`Saw completed job: ${at(10)}, condition: Complete`]);
    const [ended] = await jobs();
    expect((await get()).status.lastSuccessfulTime).toBe(ended?.status.completionTime);
    expect(cluster.complaints).toEqual([]);
  });

  it('concurrencyPolicy defaults to Allow: a job does not wait for the one before', async () => {
    await create();
    await goTo(20);
    await count(2);
    await cluster.eventually(async () => (await get()).status.active?.length === 2);
  });

  it('Forbid skips a run while the previous one is active, and starts the last when it has ended', async () => {
    await create({ concurrencyPolicy: 'Forbid' });
    await goTo(35);
    expect(await names()).toEqual([at(10)]);
    const words = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    expect(await said('JobAlreadyActive')).toEqual([words]);
    await finish();
    await count(2);
    expect(await names()).toEqual([at(10), at(30)]);
  });

  it('Replace deletes the previous Job', async () => {
    await create({ concurrencyPolicy: 'Replace' });
    await goTo(10);
    await count(1);
    await goTo(20);
    await cluster.eventually(async () => (await names()).join() === at(20));
    await cluster.eventually(async () => (await get()).status.active?.[0]?.name === at(20));
    expect(await said('SuccessfulDelete')).toEqual([`Deleted job ${at(10)}`]);
  });

  it('with suspend true: no new execution at schedule time, already started executions continue', async () => {
    await create();
    await goTo(10);
    await count(1);
    await change({ suspend: true });
    await goTo(40);
    expect(await names()).toEqual([at(10)]);
    expect((await jobs())[0]?.metadata.deletionTimestamp).toBeUndefined();
    await finish();
    expect((await jobs())[0]?.status.succeeded).toBe(1);
    await change({ suspend: false });
    await count(2);
    expect(await names()).toEqual([at(10), at(40)]);
  });

  it('startingDeadlineSeconds: a run that is later than that counts as failed, and the next is on time', async () => {
    await create({ startingDeadlineSeconds: 60, suspend: true });
    await goTo(15);
    await change({ suspend: false });
    expect(await said('MissSchedule')).toEqual([
      'Missed scheduled time to start a job: Tue, 01 Jan 2030 00:10:00 +0000',
    ]);
    expect(await jobs()).toEqual([]);
    await goTo(20);
    await count(1);
    expect(await names()).toEqual([at(20)]);
  });

  it('starts the last of several missed runs, and reports very many', async () => {
    await create({ schedule: '* * * * *' });
    await change({ suspend: true });
    await goTo(200);
    await change({ suspend: false });
    await count(1);
    expect(await names()).toEqual([at(200)]);
    expect(await said('TooManyMissedTimes')).toEqual([
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    ]);
  });

  it('does not start earlier runs of a new schedule', async () => {
    await create({ schedule: '10 0 * * *' });
    await goTo(10);
    await count(1);
    await goTo(40);
    await change({ schedule: '30 * * * *' });
    await goTo(80);
    expect(await names()).toEqual([at(10)]);
    await goTo(90);
    await count(2);
    expect(await names()).toEqual([at(10), at(90)]);
  });

  it('applies its time zone', async () => {
    await create({ schedule: '30 5 * * *', timeZone: 'Asia/Kolkata' });
    await goTo(1);
    expect(await jobs()).toEqual([]);
    await goTo(24 * 60);
    await count(1);
    expect((await jobs())[0]?.metadata.annotations).toEqual({
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2030-01-02T05:30:00+05:30',
    });
  });

  it('keeps finished Jobs up to its limits: three succeeded and one failed by default', async () => {
    await create();
    for (const [minute, phase] of [
      [10, 'Failed'],
      [20, 'Failed'],
      [30, 'Succeeded'],
      [40, 'Succeeded'],
      [50, 'Succeeded'],
      [60, 'Succeeded'],
    ] as const) {
      await goTo(minute);
      await cluster.eventually(async () => (await names()).includes(at(minute)));
      const job = (await jobs()).find(({ metadata }) => metadata.name === at(minute));
      await cluster.client
        .of(Job)
        .in('x')
        .patch(job?.metadata.name ?? '', {
          type: 'merge',
          changes: { spec: { backoffLimit: 0 } },
        });
      await finish(phase);
    }
    await count(4);
    expect(await names()).toEqual([at(20), at(40), at(50), at(60)]);
  });

  it('a history limit of 0 differs from unset: 0 keeps nothing, unset in v2alpha1 keeps all', async () => {
    await create({ successfulJobsHistoryLimit: 0 });
    const old = cluster.client.of(CronJob, 'batch/v2alpha1').in('x');
    const all = { schedule: '*/10 * * * *', jobTemplate };
    const metadata = { name: 'all', namespace: 'x' };
    await old.create({ apiVersion: 'batch/v2alpha1', kind: 'CronJob', metadata, spec: all } as never);
    for (const minute of [10, 20, 30, 40, 50, 60]) {
      await goTo(minute);
      await cluster.eventually(
        async () => (await names()).filter((name) => name?.startsWith('all-')).length === minute / 10,
      );
      await finish();
    }
    await cluster.eventually(async () => (await names()).every((name) => name?.startsWith('all-')));
    expect(await jobs()).toHaveLength(6);
    expect((await get()).status.lastSuccessfulTime).toBeDefined();
  });

  it('notices a missing Job, and one that another client created in its name', async () => {
    await create();
    await goTo(10);
    await cluster.eventually(async () => (await get()).status.active?.length === 1);
    await cluster.client.of(Job).in('x').delete(at(10), { propagationPolicy: 'Background' });
    expect(await said('MissingJob')).toEqual([`Active job went missing: ${at(10)}`]);
    await cluster.eventually(async () => (await get()).status.active === undefined);
    const { uid = '' } = (await get()).metadata;
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid, controller: true };
    const annotations = { 'cronjob.kubernetes.io/instantiate': 'manual' };
    const metadata = { name: 'by-hand', namespace: 'x', annotations, ownerReferences: [owner] };
    await cluster.client.of(Job).create({ metadata, spec: jobTemplate.spec } as never);
    expect(await said('UnexpectedJob')).toEqual(['Saw a job that the controller did not create or forgot: by-hand']);
    expect((await get()).status.active).toBeUndefined();
    expect(await names()).toEqual(['by-hand']);
  });

  it('does not start a run twice when its start was not recorded', async () => {
    await create();
    await goTo(10);
    await cluster.eventually(async () => (await get()).status.active?.length === 1);
    await change({ suspend: true });
    const { metadata, ...rest } = await get();
    await cronJobs().updateStatus({ ...rest, metadata, status: {} } as never);
    await change({ suspend: false });
    await cluster.eventually(async () => (await get()).status.active?.length === 1);
    expect((await get()).status.lastScheduleTime).toBe('2030-01-01T00:10:00Z');
    expect(await names()).toEqual([at(10)]);
    expect(await reasons()).not.toContain('UnexpectedJob');
  });

  it('skips a run when a Job of its name exists, and continues with the next', async () => {
    const name = at(10);
    await cluster.client.of(Job).create({ metadata: { name, namespace: 'x' }, spec: jobTemplate.spec } as never);
    await create();
    await goTo(20);
    await count(2);
    expect(await names()).toEqual([at(10), at(20)]);
    expect((await get()).status.lastScheduleTime).toBe('2030-01-01T00:20:00Z');
  });

  it('starts a run late that it could not start in time', async () => {
    await create({ startingDeadlineSeconds: 900 });
    await cluster.clock.advance(1000);
    cluster.link.cut();
    await goTo(12);
    cluster.link.mend();
    await goTo(18);
    expect(await names()).toEqual([at(10)]);
    expect((await get()).status.lastScheduleTime).toBe('2030-01-01T00:10:00Z');
  });

  it('is deleted with its Jobs', async () => {
    await create();
    await goTo(10);
    await count(1);
    await cronJobs().delete('tick', { propagationPolicy: 'Background' });
    await count(0);
  });
});
