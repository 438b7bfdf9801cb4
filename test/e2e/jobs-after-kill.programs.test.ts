/** A job whose cluster is killed again and again: at its end every pod is counted, and once. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { newDirectory, type Qd, startQd } from './program.ts';

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const WANTED = 120;
const KILLS = 4;
const flags = ['--runtime', 'simulated', '--nodes', '5'];

let directory: string | undefined;
let qd: Qd | undefined;

afterAll(async () => {
  await qd?.stop('SIGKILL');
  if (directory) await rm(directory, { recursive: true, force: true });
});

test('every pod counts once, whatever the program was doing when it was killed', { timeout: 120_000 }, async () => {
  directory = await newDirectory();
  qd = await startQd({ directory, flags });
  const containers = [{ name: 'main', image: 'busybox' }];
  const template = { spec: { restartPolicy: 'Never', containers } };
  const body = { metadata: { name: 'work' }, spec: { completions: WANTED, parallelism: 30, template } };
  await qd.request('POST', JOBS, { body });
  for (let kill = 1; kill <= KILLS; kill++) {
    await qd.until(JOBS, ({ status }) => (status.succeeded ?? 0) >= (kill * WANTED) / (KILLS + 2));
    await qd.stop('SIGKILL');
    qd = await startQd({ directory, flags });
  }
  const { status } = await qd.until(JOBS, ({ status }) => isFinished(status));
  expect(status).toMatchObject({ succeeded: WANTED, uncountedTerminatedPods: {}, terminating: 0 });
  expect([status.active, status.failed]).toEqual([undefined, undefined]);
  const { items } = (await qd.request('GET', '/api/v1/namespaces/default/pods?labelSelector=job-name%3Dwork')).body;
  expect(items.filter((pod: any) => pod.status.phase === 'Succeeded')).toHaveLength(WANTED);
  expect(items).toHaveLength(WANTED);
  expect(items.filter((pod: any) => pod.metadata.finalizers?.length)).toEqual([]);
});

const isFinished = ({ conditions = [] }: any) =>
  conditions.some(({ type }: any) => type === 'Complete' || type === 'Failed');
