/** Tests jobs and cron jobs with kubectl. Nothing runs their pods here: the test sets how they end. */
import { expect, test } from 'vitest';
import { type Driver, withKubectl } from './driver.ts';

withKubectl((kubectl) => {
  test('create job, get, wait for its end, describe with events', async () => {
    expect(await kubectl.run('create', 'job', 'hello', '--image=busybox', '--', 'echo', 'hello')).toBe(
      'job.batch/hello created',
    );
    await endPod(kubectl, 'hello', 'Succeeded');
    const waited = await kubectl.run('wait', '--for=condition=complete', '--timeout=30s', 'job/hello');
    expect(waited).toBe('job.batch/hello condition met');
    const [head, row] = await kubectl.lines('get', 'job', 'hello');
    expect(head).toMatch(/^NAME STATUS COMPLETIONS DURATION AGE$/);
    expect(row).toMatch(/^hello Complete 1\/1 \d+s \d+s$/);
    const described = await describedWith(kubectl, 'hello', 'Completed');
    expect(described).toMatch(/Parallelism: +1\nCompletions: +1\n/);
    expect(described).toMatch(/Start Time: +\w/);
    expect(described).toMatch(/1 Succeeded/);
    expect(described).toMatch(/Normal +SuccessfulCreate +\S+ +job-controller +Created pod: hello-\w{5}/);
    expect(described).toMatch(/Normal +Completed +\S+ +job-controller +Job completed/);
    const pods = await kubectl.run('get', 'pods', '-l', 'job-name=hello', '-o', 'jsonpath={.items[*].status.phase}');
    expect(pods).toBe('Succeeded');
  });

  test('wait for a failure', async () => {
    const spec = {
      backoffLimit: 0,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'breaks' }, spec };
    await kubectl.run('create', '-f', await kubectl.file('breaks.json', job));
    await endPod(kubectl, 'breaks', 'Failed');
    await kubectl.run('wait', '--for=condition=failed', '--timeout=30s', 'job/breaks');
    expect(await describedWith(kubectl, 'breaks', 'BackoffLimitExceeded')).toMatch(
      /Warning +BackoffLimitExceeded +\S+ +job-controller +Job has reached the specified backoff limit/,
    );
    await kubectl.outcome('delete', 'job', 'breaks');
    const left = await kubectl.run('get', 'jobs,pods', '-l', 'job-name=breaks', '-o', 'name');
    expect(left).toBe('');
  });

  test('create cronjob, get, describe with events, suspend', async () => {
    const command = ['create', 'cronjob', 'tick', '--image=busybox', '--schedule=@every 1s', '--', 'date'];
    expect((await kubectl.outcome(...command)).stdout.trim()).toMatch(/^cronjob\.batch\/tick created$/);
    const jobs = () => kubectl.run('get', 'jobs', '-o', 'jsonpath={.items[*].metadata.name}');
    await until(async () => /tick-\d+/.test(await jobs()));
    const { stdout } = await kubectl.outcome('get', 'cronjob', 'tick', '--no-headers');
    expect(stdout).toMatch(/^tick +@every 1s +(<none> +)?False +[12] +\d+s +\d+s/);
    await until(async () => {
      const described = (await kubectl.outcome('describe', 'cronjob', 'tick')).stdout;
      return /Normal +SuccessfulCreate +\S+ +cronjob-controller +Created job tick-\d+/.test(described);
    });
    await kubectl.outcome('patch', 'cronjob', 'tick', '-p', '{"spec":{"suspend":true}}');
    expect((await kubectl.outcome('get', 'cronjob', 'tick', '--no-headers')).stdout).toMatch(/ True /);
  });

  test('create job from a cronjob', async () => {
    // The old one does not know cron jobs of the newest version, and has to name the older one.
    const from = kubectl.isNewest ? 'cronjob/tick' : 'cronjob.v1beta1.batch/tick';
    const made = await kubectl.outcome('create', 'job', 'by-hand', `--from=${from}`);
    expect(made.stdout.trim()).toBe('job.batch/by-hand created');
    await endPod(kubectl, 'by-hand', 'Succeeded');
    await kubectl.run('wait', '--for=condition=complete', '--timeout=30s', 'job/by-hand');
    const owner = await kubectl.run('get', 'job', 'by-hand', '-o', 'jsonpath={.metadata.ownerReferences[0].name}');
    expect(owner).toBe('tick');
    await kubectl.outcome('delete', 'cronjob', 'tick');
    await until(async () => !/tick-|by-hand/.test(await kubectl.run('get', 'jobs', '-o', 'name')));
  });
});

/** Ends the first pod of a job as a node would report it. */
async function endPod({ qd, namespace }: Driver, job: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  for await (const { object } of await qd.watch(`${pods}?watch=true&labelSelector=job-name%3D${job}`)) {
    const { code } = await qd.request('PATCH', `${pods}/${object.metadata.name}/status`, {
      type: 'application/merge-patch+json',
      body: { status: { phase } },
    });
    expect(code).toBe(200);
    return;
  }
}

/** Returns the description of a job once it contains this reason: events are written after their cause. */
async function describedWith(kubectl: Driver, job: string, reason: string): Promise<string> {
  let described = '';
  await until(async () => {
    described = await kubectl.run('describe', 'job', job);
    return described.includes(` ${reason} `);
  });
  return described;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) if (await condition()) return;
  throw new Error('it did not happen within 30 seconds');
}
