/** The limits that the service promises, one test each, as a whole cluster shows them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerRevision } from '../../src/kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../src/kinds/groups/apps/daemon-set.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startWholeCluster } from '../support/cluster/whole-cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startWholeCluster(['n1']);
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const SECOND = 1000;
const labels = { app: 'web' };
const metadata = { name: 'web', namespace: 'x' };
const merge = (changes: object) => ({ type: 'merge', changes }) as any;
/** Pods that are ready when they run, or not for a day. */
const template = (image: string, isReady = true) => ({
  metadata: { labels, annotations: isReady ? {} : { 'simulated.kubernetes.io/ready': '24h' } },
  spec: { containers: [{ name: 'main', image }] },
});
const pods = () => cluster.client.of(Pod).in('x');
const old = () => cluster.client.of(Deployment, 'apps/v1beta1').in('x');
const sets = async () => (await cluster.client.of(ReplicaSet).in('x').list()).items;
const deploy = (fields: object) =>
  old().create({ metadata, spec: { replicas: 1, selector: { matchLabels: labels }, ...fields } } as any);
const rolledOut = () =>
  cluster.eventually(async () => {
    const { metadata, status } = await old().get('web');
    return status.observedGeneration === metadata.generation && status.availableReplicas === 1 && status.replicas === 1;
  });

async function pass(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 5000) await cluster.clock.advance(Math.min(left, 5000));
}

it('restartCount: capped at 5', async () => {
  const annotations = { 'simulated.kubernetes.io/run': '1s exit 1' };
  const spec = { containers: [{ name: 'main', image: 'nginx' }] };
  await pods().create({ metadata: { ...metadata, annotations }, spec } as any);
  await pass(3600 * SECOND);
  const { status, metadata: kept } = await pods().get('web');
  expect(status.containerStatuses?.[0]?.restartCount).toBe(5);
  expect(JSON.parse(kept.annotations?.['kubernetes.io/restart-counts'] ?? '').main).toBeGreaterThan(5);
});

it('Deployment progressDeadlineSeconds: 600 seconds by default', async () => {
  await deploy({ template: template('nginx', false) });
  const progress = async () =>
    (await old().get('web')).status.conditions?.find((each: any) => each.type === 'Progressing');
  await pass(595 * SECOND);
  expect(await progress()).toMatchObject({ status: 'True' });
  await pass(10 * SECOND);
  expect(await progress()).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
});

it('Deployment revisionHistoryLimit: 2 by default', async () => {
  await deploy({ template: template('nginx:0') });
  for (let i = 1; i <= 4; i++) {
    await rolledOut();
    await old().patch('web', merge({ spec: { template: template(`nginx:${i}`) } }));
  }
  const images = async () => (await sets()).map(({ spec }) => spec.template.spec?.containers[0]?.image).sort();
  await cluster.eventually(async () => (await images()).join() === 'nginx:2,nginx:3,nginx:4');
});

it('DaemonSet revisionHistoryLimit: 10 by default', async () => {
  const daemonSets = cluster.client.of(DaemonSet, 'extensions/v1beta1').in('x');
  const updateStrategy = { type: 'RollingUpdate' };
  await daemonSets.create({ metadata, spec: { template: template('nginx:0'), updateStrategy } } as any);
  for (let i = 1; i <= 13; i++) {
    await cluster.eventually(async () => {
      const { metadata, status } = await daemonSets.get('web');
      return status.observedGeneration === metadata.generation && status.updatedNumberScheduled === 1;
    });
    await daemonSets.patch('web', merge({ spec: { template: template(`nginx:${i}`) } }));
  }
  const revisions = async () => (await cluster.client.of(ControllerRevision).in('x').list()).items;
  const numbers = async () => (await revisions()).map(({ revision }) => revision).sort((a, b) => a - b);
  // The current one, and ten to roll back to.
  await cluster.eventually(async () => (await numbers()).join() === '4,5,6,7,8,9,10,11,12,13,14');
});

it('Pod terminationGracePeriodSeconds: 30 by default', async () => {
  const annotations = { 'simulated.kubernetes.io/stop': '10m' };
  const spec = { containers: [{ name: 'main', image: 'nginx' }] };
  await pods().create({ metadata: { ...metadata, annotations }, spec } as any);
  await cluster.eventually(async () => (await pods().get('web')).status.phase === 'Running');
  await pods().delete('web');
  await pass(28 * SECOND);
  expect((await pods().get('web')).metadata.deletionGracePeriodSeconds).toBe(30);
  await pass(4 * SECOND);
  expect((await pods().list()).items).toEqual([]);
});

it('Termination message per container: truncated above 4096 bytes; total across containers limited to 12kb', async () => {
  const said = { takes: '0s', exitCode: 1, message: 'é'.repeat(3000) };
  const annotations = { 'simulated.kubernetes.io/run': JSON.stringify(said) };
  const containers = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'nginx' }));
  const sizes = async (name: string, count: number) => {
    const spec = { restartPolicy: 'Never', containers: containers(count) };
    await pods().create({ metadata: { name, namespace: 'x', annotations }, spec } as any);
    await cluster.eventually(async () => (await pods().get(name)).status.phase === 'Failed');
    const { status } = await pods().get(name);
    return status.containerStatuses?.map(({ state }) => Buffer.byteLength(state.terminated?.message ?? ''));
  };
  expect(await sizes('one', 1)).toEqual([4096]);
  expect(await sizes('six', 6)).toEqual(Array(6).fill(2048));
});

it('Log fallback for termination message: last 2048 bytes or 80 lines, whichever is smaller', async () => {
  const messageOf = async (name: string, line: string) => {
    const annotations = {
      'simulated.kubernetes.io/run': '10s exit 1',
      'simulated.kubernetes.io/logs': JSON.stringify({ every: '100ms', lines: [line] }),
    };
    const container = { name: 'main', image: 'nginx', terminationMessagePolicy: 'FallbackToLogsOnError' };
    const spec = { restartPolicy: 'Never', containers: [container] };
    await pods().create({ metadata: { name, namespace: 'x', annotations }, spec } as any);
    await pass(15 * SECOND);
    return (await pods().get(name)).status.containerStatuses?.[0]?.state.terminated?.message ?? '';
  };
  const short = (await messageOf('short', '{n}')).trimEnd().split('\n');
  expect(short).toEqual(Array.from({ length: 80 }, (_, index) => String(index + 22)));
  const long = await messageOf('long', `{n} ${'x'.repeat(100)}`);
  expect(Buffer.byteLength(long)).toBe(2048);
  expect(long.endsWith(`101 ${'x'.repeat(100)}\n`)).toBe(true);
});
