/** Whatever waits in a test cluster waits by the cluster's clock. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { newRequest } from '../../src/protocols/x509/request.ts';
import type { ClusterOptions, Cluster as ClusterType, KubeObject } from '../../src/testing/contract.ts';
import { Cluster } from '../../src/testing/index.ts';

const started: ClusterType[] = [];
async function start(options?: ClusterOptions): Promise<ClusterType> {
  const cluster = await Cluster.start({ seed: 1, ...options });
  started.push(cluster);
  return cluster;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.stop()));
});

const secondsSinceStart = (time: string | Date) =>
  (new Date(time).getTime() - Date.parse('2030-01-01T00:00:00Z')) / 1000;
const exists = (cluster: ClusterType, reference: string) =>
  cluster.get(reference).then(
    () => true,
    () => false,
  );
/** Returns the times at which the value of an object changed, in seconds since the start, and the new values. */
async function changes(cluster: ClusterType, reference: string, value: (object: KubeObject) => unknown) {
  const found: [number, unknown][] = [];
  for (const { object, time } of await cluster.history(reference)) {
    if (found.at(-1)?.[1] !== value(object)) found.push([Math.floor(secondsSinceStart(time)), value(object)]);
  }
  return found;
}

test('an autoscaler waits for its stabilization window', async () => {
  const cluster = await start();
  const labels = { app: 'web' };
  const container = { name: 'c', image: 'nginx', resources: { requests: { cpu: '100m' } } };
  const scaleDown = { stabilizationWindowSeconds: 600, policies: [{ type: 'Pods', value: 10, periodSeconds: 15 }] };
  await cluster.apply(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'simulated.kubernetes.io/usage': '{"cpu":"300m","shared":true}' } },
          spec: { containers: [container] },
        },
      },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 100 } } },
        ],
        behavior: { scaleDown },
      },
    },
  );
  const replicas = async () => (await cluster.get('deployment/web')).spec.replicas;
  await cluster.waitFor(async () => (await replicas()) === 3);
  await cluster.settle();
  const pods = cluster.client.of('Pod').in('default');
  const usage = { 'simulated.kubernetes.io/usage': 'cpu=10m' };
  for (const { metadata } of (await pods.list()).items) {
    await pods.patch(metadata.name!, { type: 'merge', changes: { metadata: { annotations: usage } } });
  }
  await cluster.advance('9m');
  expect(await replicas()).toBe(3);
  await cluster.advance('2m');
  expect(await replicas()).toBe(1);
});

test('probes fail and recover', async () => {
  const stages = { readiness: { after: '1m', for: '30s' } };
  const cluster = await start({ simulation: { pods: [{ stages }] } });
  const readinessProbe = { httpGet: { port: 80 } };
  const spec = { containers: [{ name: 'c', image: 'nginx', readinessProbe }] };
  await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probed' }, spec });
  await cluster.advance('2m');
  const isReady = ({ status }: KubeObject) =>
    status.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.status === 'True';
  const [, [ready, ...then], [failed], [recovered]] = (await changes(cluster, 'pod/probed', isReady)) as any;
  expect(then).toEqual([true]);
  expect(failed - ready).toBe(60);
  expect(recovered - failed).toBe(30);
});

test('containers are restarted with back-off', async () => {
  const cluster = await start({ simulation: { pods: [{ stages: { run: '0s exit 1' } }] } });
  const spec = { containers: [{ name: 'c', image: 'nginx' }] };
  await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'crashing' }, spec });
  await cluster.advance('90s');
  const restarts = await changes(
    cluster,
    'pod/crashing',
    ({ status }) => status.containerStatuses?.[0].restartCount ?? 0,
  );
  expect(restarts).toEqual([
    [0, 0],
    [0, 1],
    [10, 2],
    [30, 3],
    [70, 4],
  ]);
});

test('a Job goes when its time to live is over', async () => {
  const cluster = await start();
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'brief' } };
  await cluster.apply({ ...job, spec: { ttlSecondsAfterFinished: 3600, template } });
  await cluster.waitFor('job/brief', 'Complete');
  await cluster.advance('59m');
  expect(await exists(cluster, 'job/brief')).toBe(true);
  await cluster.advance('1m');
  expect(await exists(cluster, 'job/brief')).toBe(false);
});

test('certificates are valid by the time of the cluster, and their requests go in time', async () => {
  const cluster = await start({ now: '2031-05-05T12:00:00Z' });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = { commonName: 'system:node:node-1', organization: 'system:nodes' };
  const request = btoa(newRequest({ subject, names: ['node-1'] }, privateKey));
  await cluster.client
    .as('system:node:node-1', ['system:nodes'])
    .of('CertificateSigningRequest')
    .create({
      metadata: { name: 'serving' },
      spec: {
        ...{ request, signerName: 'kubernetes.io/kubelet-serving', expirationSeconds: 7200 },
        usages: ['digital signature', 'server auth'],
      },
    });
  const reference = 'certificatesigningrequest/serving';
  const issued = await cluster.waitFor(reference, ({ status }) => status.certificate !== undefined);
  const { validTo } = new X509Certificate(Buffer.from(issued.status.certificate, 'base64'));
  expect(new Date(validTo).toISOString()).toMatch(/^2031-05-05T1[34]:5\d|^2031-05-05T14:00/);
  await cluster.advance('59m');
  expect(await exists(cluster, reference)).toBe(true);
  await cluster.advance('2m');
  expect(await exists(cluster, reference)).toBe(false);
});
