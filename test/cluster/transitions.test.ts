/** The moves between states that the service promises, one test each, in a whole cluster whose time is moved by hand. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { CronJob } from '../../src/kinds/groups/batch/cron-job.ts';
import { Job } from '../../src/kinds/groups/batch/job.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { Endpoints } from '../../src/kinds/groups/core/service/endpoints.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startWholeCluster } from '../support/cluster/whole-cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startWholeCluster(['n1', 'n2']);
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const MINUTE = 60_000;
const labels = { app: 'web' };
const container = { name: 'main', image: 'nginx:1.27' };
/** Pods with a readiness probe, which does not pass where `isBroken`. */
const template = (image: string, isBroken = false) => ({
  metadata: { labels, annotations: { 'simulated.kubernetes.io/ready': isBroken ? '24h' : null } },
  spec: { containers: [{ ...container, image, readinessProbe: { httpGet: { port: 80 } } }] },
});

const deployments = () => cluster.client.of(Deployment).in('x');
const sets = () => cluster.client.of(ReplicaSet).in('x');
const pods = () => cluster.client.of(Pod).in('x');
const names = async () => (await pods().list()).items.map(({ metadata }) => metadata.name);
const merge = (changes: object) => ({ type: 'merge', changes }) as any;
const progress = async () =>
  (await deployments().get('web')).status.conditions?.find((each) => each.type === 'Progressing');

/** Advances the clock in small steps, so that components keep up. */
async function pass(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 5000) await cluster.clock.advance(Math.min(left, 5000));
}

async function deploy(spec: object = {}): Promise<void> {
  const metadata = { name: 'web', namespace: 'x' };
  const common = { replicas: 2, selector: { matchLabels: labels }, template: template('nginx:1') };
  await deployments().create({ metadata, spec: { ...common, ...spec } } as any);
  await cluster.eventually(async () => (await deployments().get('web')).status.availableReplicas === 2);
}

describe('a Deployment', () => {
  it('progressing, time passes, no progress within progressDeadlineSeconds and not paused: considered failed; a condition with reason ProgressDeadlineExceeded appears in status, and the controller keeps processing it', async () => {
    await deploy({ progressDeadlineSeconds: 120 });
    await deployments().patch('web', merge({ spec: { template: template('nginx:2', true) } }));
    await cluster.eventually(async () => (await progress())?.reason === 'ReplicaSetUpdated');
    await pass(MINUTE);
    expect((await progress())?.reason).toBe('ReplicaSetUpdated');
    await pass(2 * MINUTE);
    expect(await progress()).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
    // It completes when it can.
    await deployments().patch('web', merge({ spec: { template: template('nginx:3') } }));
    await cluster.eventually(async () => (await progress())?.reason === 'NewReplicaSetAvailable');
    const images = async () => (await pods().list()).items.map(({ spec }) => spec.containers[0]?.image).join();
    await cluster.eventually(async () => (await images()) === 'nginx:3,nginx:3');
  });

  it('with paused true, time passes: progress is not estimated', async () => {
    await deploy({ progressDeadlineSeconds: 120 });
    await deployments().patch('web', merge({ spec: { template: template('nginx:2', true) } }));
    await cluster.eventually(async () => (await sets().list()).items.length === 2);
    await deployments().patch('web', merge({ spec: { paused: true } }));
    await pass(10 * MINUTE);
    expect(await progress()).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
    await deployments().patch('web', merge({ spec: { paused: false } }));
    await pass(MINUTE);
    expect((await progress())?.reason, 'the time begins anew').not.toBe('ProgressDeadlineExceeded');
    await pass(2 * MINUTE);
    expect((await progress())?.reason).toBe('ProgressDeadlineExceeded');
  });
});

const jobs = () => cluster.client.of(Job).in('x');
const work = { restartPolicy: 'Never', containers: [container] };
/** Template of pods that run until an annotation ends them. */
const long = { metadata: { annotations: { 'simulated.kubernetes.io/run': 'forever' } }, spec: work };
const finish = async () => {
  for (const name of await names()) {
    const annotations = { 'simulated.kubernetes.io/run': '0s' };
    await pods().patch(name ?? '', merge({ metadata: { annotations } }));
  }
};

it('a Job created, the controller acknowledges: status.startTime set, status.active counts running pods, and pods are created from the template', async () => {
  const metadata = { name: 'work', namespace: 'x' };
  await jobs().create({ metadata, spec: { parallelism: 3, completions: 3, template: long } } as any);
  await cluster.eventually(async () => (await jobs().get('work')).status.active === 3);
  const { status } = await jobs().get('work');
  expect(status.startTime).toBe('2030-01-01T00:00:00Z');
  const { items } = await pods().list();
  expect(items.map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(3).fill('nginx:1.27'));
  await cluster.eventually(async () => (await pods().list()).items.every(({ status }) => status.phase === 'Running'));
  await finish();
  await cluster.eventually(async () => (await jobs().get('work')).status.succeeded === 3);
  expect((await jobs().get('work')).status.active ?? 0).toBe(0);
});

it('a CronJob with suspend true, at schedule time: no new execution, and already started executions continue', async () => {
  const cronJobs = cluster.client.of(CronJob).in('x');
  const spec = { schedule: '*/5 * * * *', jobTemplate: { spec: { template: long } } };
  await cronJobs.create({ metadata: { name: 'tick', namespace: 'x' }, spec } as any);
  await pass(5 * MINUTE);
  await cluster.eventually(async () => (await jobs().list()).items.length === 1);
  await cronJobs.patch('tick', merge({ spec: { suspend: true } }));
  await pass(20 * MINUTE);
  const { items } = await jobs().list();
  expect(items).toHaveLength(1);
  expect(items[0]?.status.active).toBe(1);
  await finish();
  await cluster.eventually(async () => (await jobs().list()).items[0]?.status.succeeded === 1);
});

describe('an object being deleted, with child objects', () => {
  it.each([
    ['propagationPolicy Background', 'are garbage collected', 'apps/v1', { propagationPolicy: 'Background' }],
    ['propagationPolicy Foreground', 'are garbage collected', 'apps/v1', { propagationPolicy: 'Foreground' }],
    ['propagationPolicy Orphan', 'are orphaned', 'apps/v1', { propagationPolicy: 'Orphan' }],
    ['orphanDependents true', 'are orphaned', 'apps/v1', { orphanDependents: true }],
    ['orphanDependents false', 'are garbage collected', 'apps/v1beta1', { orphanDependents: false }],
    ['the default of apps/v1', 'are garbage collected', 'apps/v1', {}],
    ['the default of apps/v1beta1', 'are orphaned', 'apps/v1beta1', {}],
  ] as const)('by %s: they %s', async (_, fate, apiVersion, options) => {
    await deploy();
    const call = { verb: 'delete', apiVersion, plural: 'deployments', namespace: 'x', name: 'web' } as const;
    const user = { name: 'admin', groups: ['system:masters'] };
    await cluster.server.direct(user)({ ...call, options });
    await cluster.eventually(async () => (await deployments().list()).items.length === 0);
    if (fate === 'are garbage collected') {
      await cluster.eventually(async () => (await names()).length === 0 && (await sets().list()).items.length === 0);
    } else {
      await pass(MINUTE);
      expect(await names()).toHaveLength(2);
      const [set] = (await sets().list()).items;
      expect(set?.metadata.ownerReferences).toBeUndefined();
    }
  });
});

const pod = (spec: object = {}) => ({ metadata: { name: 'web', namespace: 'x', labels }, spec }) as any;
const annotate = (annotations: object) => pods().patch('web', merge({ metadata: { annotations } }));
const isReady = ({ status }: any) =>
  status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True') ?? false;

it('a container, its liveness probe fails: the container is restarted', async () => {
  await pods().create(pod({ containers: [{ ...container, livenessProbe: { httpGet: { port: 80 } } }] }));
  await cluster.eventually(async () => isReady(await pods().get('web')));
  const [before] = (await pods().get('web')).status.containerStatuses ?? [];
  await annotate({ 'simulated.kubernetes.io/liveness': '{"after":"0s","times":1}' });
  await cluster.eventually(async () => (await pods().get('web')).status.containerStatuses?.[0]?.restartCount === 1);
  await cluster.eventually(async () => isReady(await pods().get('web')));
  const [after] = (await pods().get('web')).status.containerStatuses ?? [];
  expect(after?.containerID).not.toBe(before?.containerID);
  expect(after?.state.running).toBeDefined();
  expect(after?.lastState.terminated?.exitCode).toBe(137);
});

it("a pod's endpoint, its readiness probe fails: it is removed from service endpoints", async () => {
  const service = { metadata: { name: 'web', namespace: 'x' }, spec: { selector: labels, ports: [{ port: 80 }] } };
  await cluster.client.of(Service).create(service as any);
  await pods().create(pod({ containers: [{ ...container, readinessProbe: { httpGet: { port: 80 } } }] }));
  const addresses = async () => {
    const { items } = await cluster.client.of(Endpoints).in('x').list();
    return items.flatMap(({ subsets = [] }) => subsets.flatMap((each) => each.addresses ?? [])).map(({ ip }) => ip);
  };
  await cluster.eventually(async () => (await addresses()).length === 1);
  expect(await addresses()).toEqual([(await pods().get('web')).status.podIP]);
  await annotate({ 'simulated.kubernetes.io/readiness': '0s' });
  await cluster.eventually(async () => (await addresses()).length === 0);
  expect((await pods().get('web')).status.phase).toBe('Running');
  await annotate({ 'simulated.kubernetes.io/readiness': null });
  await cluster.eventually(async () => (await addresses()).length === 1);
});

it('a pod created, the system applies the desired state: it is scheduled to a node', async () => {
  await pods().create(pod({ containers: [container] }));
  await cluster.eventually(async () => (await pods().get('web')).spec.nodeName !== undefined);
  const { spec, status } = await pods().get('web');
  expect(['n1', 'n2']).toContain(spec.nodeName);
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'PodScheduled', status: 'True' }));
  await cluster.eventually(async () => (await pods().get('web')).status.phase === 'Running');
});
