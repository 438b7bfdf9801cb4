/** Autoscalers over simulated pods, with the real server, controllers and nodes in one process, on a controlled clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { nodeUser, SIMULATED_NODES } from '../../src/client/component-users.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { HorizontalPodAutoscaler } from '../../src/kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { readRules } from '../../src/node/simulated/rules/read-rules.ts';
import { type SimulatedNodes, startSimulatedNodes } from '../../src/node/simulated/simulated.ts';
import type { AdmissionPlugin } from '../../src/server/operations/admission/plugin.ts';
import { namespaceLifecycle } from '../../src/server/operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { nodeRestriction } from '../../src/server/operations/admission/plugins/node-restriction/restriction.ts';
import { NO_CONNECTION } from '../../src/server/outbound/nodes/connection.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

/** Usage rules: all pods of `web` together use 600m, however many they are. */
const RULES = { pods: [{ match: { labels: 'app=web' }, stages: { usage: { cpu: '600m', shared: true } } }] };

let cluster: Cluster;
let nodes: SimulatedNodes;
/** Number of reads of the node's usage. */
let measured: number;
/** True when changes of sizes are denied. */
let isFrozen: boolean;
const freeze: AdmissionPlugin = {
  name: 'Freeze',
  handles: (kind, operation, subresource) => kind === Deployment && operation === 'UPDATE' && subresource === 'scale',
  validate() {
    if (isFrozen) throw new ApiError('Forbidden', 'sizes are frozen');
  },
};

beforeEach(async () => {
  isFrozen = false;
  cluster = await startCluster({ admission: [namespaceLifecycle, nodeRestriction, freeze] });
  const { clientFor, clock } = cluster;
  nodes = await startSimulatedNodes({
    ...{ client: clientFor(SIMULATED_NODES), clientOf: (node) => clientFor(nodeUser(node)) },
    ...{ clock, random: systemRandom, log: silent, names: ['n1'], clusterCidr: '10.244.0.0/16' },
    ...{ version: 'v1.36.4', rules: readRules(RULES) },
  });
  measured = 0;
  cluster.nodes.add(() => true, {
    ...NO_CONNECTION,
    logs: (request) => nodes.logs(request),
    async usage(node) {
      measured++;
      return nodes.usage(node);
    },
  });
});
afterEach(async () => {
  await nodes.stop();
  await cluster.stop();
});

const inDefault = <T>(kind: Parameters<Cluster['client']['of']>[0] & { _type?: T }) =>
  cluster.client.of<any>(kind).in('default');
const autoscaler = (name = 'web') => inDefault(HorizontalPodAutoscaler).get(name);
const sizeOf = async (name = 'web') => (await inDefault(Deployment).get(name)).spec.replicas;
const conditions = async (name = 'web') =>
  Object.fromEntries(
    ((await autoscaler(name)).status.conditions ?? []).map(({ type, status, reason }: any) => [
      type,
      `${status} ${reason}`,
    ]),
  );
const events = async (name = 'web') =>
  (await inDefault(Event).list()).items
    .filter(
      ({ involvedObject }: any) => involvedObject.kind === 'HorizontalPodAutoscaler' && involvedObject.name === name,
    )
    .map(({ reason, message }: any) => `${reason}: ${message}`);
const advance = async (seconds: number) => {
  for (let left = seconds; left > 0; left -= 5) await cluster.clock.advance(Math.min(5, left) * 1000);
};

async function deploy(name = 'web', replicas = 2) {
  const labels = { app: name };
  const containers = [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '100m', memory: '64Mi' } } }];
  await inDefault(Deployment).create({
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeName: 'n1', containers } },
    },
  });
}

const cpu = (averageUtilization: number) => ({
  ...{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
});

async function scale(spec: object = {}, name = 'web', target = name) {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: target };
  await inDefault(HorizontalPodAutoscaler).create({
    metadata: { name, namespace: 'default' },
    spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 20, metrics: [cpu(60)], ...spec },
  });
}

const annotateAll = async (usage: string) => {
  for (const { metadata } of (await inDefault(Pod).list({ labelSelector: 'app=web' })).items) {
    const changes = { metadata: { annotations: { 'simulated.kubernetes.io/usage': usage } } };
    await inDefault(Pod).patch(metadata.name, { type: 'merge', changes });
  }
};

describe('an autoscaler', () => {
  it('scales up in steps, converges, and scales down when the load has been low for five minutes', async () => {
    await deploy();
    await scale();
    const sizes = [await sizeOf()];
    for (let look = 0; look < 10; look++) {
      await advance(15);
      const size = await sizeOf();
      if (size !== sizes.at(-1)) sizes.push(size);
    }
    expect(sizes).toEqual([2, 4, 8, 10]);
    expect(await autoscaler()).toMatchObject({
      status: {
        ...{ currentReplicas: 10, desiredReplicas: 10, lastScaleTime: expect.any(String) },
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 60, averageValue: '60m' } } },
        ],
      },
    });
    expect(await conditions()).toEqual({
      ...{ AbleToScale: 'True ReadyForNewScale', ScalingActive: 'True ValidMetricFound' },
      ScalingLimited: 'False DesiredWithinRange',
    });
    expect(await events()).toContain(
      'SuccessfulRescale: New size: 8; reason: cpu resource utilization (percentage of request) above target',
    );
    const { resourceVersion } = (await autoscaler()).metadata;
    await advance(60);
    expect((await autoscaler()).metadata.resourceVersion).toBe(resourceVersion);

    await annotateAll('cpu=5m');
    await advance(285);
    expect(await sizeOf()).toBe(10);
    expect((await conditions()).AbleToScale).toBe('True ScaleDownStabilized');
    await advance(60);
    expect(await sizeOf()).toBe(2);
    expect(await events()).toContain('SuccessfulRescale: New size: 2; reason: All metrics below target');
    expect(cluster.complaints).toEqual([]);
  });

  it('follows its behavior', async () => {
    const scaleUp = { policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }] };
    await deploy();
    await scale({ behavior: { scaleUp } });
    await advance(60);
    const before = await sizeOf();
    expect((await conditions()).ScalingLimited).toBe('True ScaleUpLimit');
    await advance(90);
    expect(await sizeOf()).toBe(before + 3);
  });

  it('applies new bounds at once, and ignores a target that is scaled to zero', async () => {
    await deploy('other', 3);
    await scale({ minReplicas: 5 }, 'other');
    await advance(1);
    expect(await sizeOf('other')).toBe(5);
    expect(await events('other')).toEqual([
      'SuccessfulRescale: New size: 5; reason: Current number of replicas below Spec.MinReplicas',
    ]);
    await inDefault(HorizontalPodAutoscaler).patch('other', {
      type: 'merge',
      changes: { spec: { minReplicas: 1, maxReplicas: 4 } },
    });
    await advance(1);
    expect(await sizeOf('other')).toBe(4);
    await inDefault(Deployment).setScale('other', 0);
    await advance(600);
    expect(await sizeOf('other')).toBe(0);
    expect(await conditions('other')).toMatchObject({ ScalingActive: 'False ScalingDisabled' });
    await inDefault(Deployment).setScale('other', 3);
    await advance(60);
    expect(await conditions('other')).toMatchObject({ ScalingActive: 'True ValidMetricFound' });
  });

  it('of the older version shows what it found', async () => {
    await deploy();
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 2 };
    const old = cluster.client.of(HorizontalPodAutoscaler, 'autoscaling/v1').in('default');
    await old.create({
      metadata: { name: 'web' },
      spec: { ...spec, minReplicas: 2, targetCPUUtilizationPercentage: 50 },
    } as any);
    await advance(45);
    const { status, metadata } = await old.get('web');
    expect(status).toMatchObject({ currentReplicas: 2, desiredReplicas: 2, currentCPUUtilizationPercentage: 300 });
    const key = 'autoscaling.alpha.kubernetes.io/conditions';
    expect(JSON.parse(metadata.annotations?.[key] ?? '').map(({ reason }: any) => reason)).toEqual([
      ...['ReadyForNewScale', 'ValidMetricFound', 'TooManyReplicas'],
    ]);
  });
});

describe('an autoscaler that can do nothing reports why', () => {
  it('about a missing target, and continues when it exists', async () => {
    await scale();
    await advance(1);
    expect(await conditions()).toEqual({ AbleToScale: 'False FailedGetScale' });
    expect(await events()).toEqual(['FailedGetScale: deployments.apps "web" not found']);
    await deploy();
    await advance(60);
    expect(await conditions()).toMatchObject({ AbleToScale: expect.stringMatching(/^True/) });
  });

  it.each([
    ['apps/v1', 'Gadget', 'no matches for kind "Gadget" in group "apps"'],
    ['apps/v1', 'DaemonSet', 'the server could not find the requested resource'],
  ])('about %s %s', async (apiVersion, kind, why) => {
    await scale({ scaleTargetRef: { apiVersion, kind, name: 'web' } });
    await advance(1);
    expect(await events()).toEqual([`FailedGetScale: ${why}`]);
  });

  it('about metrics that are not collected', async () => {
    const target = { type: 'AverageValue', averageValue: '10' };
    await deploy();
    await scale({ metrics: [{ type: 'Pods', pods: { metric: { name: 'qps' }, target } }] });
    await advance(1);
    expect(await conditions()).toMatchObject({ ScalingActive: 'False FailedGetPodsMetric' });
    expect(await events()).toContain(
      'FailedGetPodsMetric: unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
    );
    await scale({ metrics: [{ type: 'External', external: { metric: { name: 'queue' }, target } }] }, 'other', 'web');
    await inDefault(HorizontalPodAutoscaler).delete('web');
    await advance(16);
    expect(await events('other')).toContain(
      'FailedGetExternalMetric: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)',
    );
  });

  it('about a size that it may not change, and retries', async () => {
    await deploy();
    isFrozen = true;
    await scale({ minReplicas: 4 });
    await advance(5);
    expect(await conditions()).toEqual({ AbleToScale: 'False FailedUpdateScale' });
    const reason = 'Current number of replicas below Spec.MinReplicas';
    expect(await events()).toEqual([`FailedRescale: New size: 4; reason: ${reason}; error: sizes are frozen`]);
    isFrozen = false;
    await advance(15);
    expect(await sizeOf()).toBe(4);
    expect(await conditions()).toEqual({ AbleToScale: 'True SucceededRescale' });
  });

  it('about another one that scales the same pods', async () => {
    await deploy();
    await scale();
    await scale({}, 'again', 'web');
    await advance(30);
    expect(await conditions()).toMatchObject({ ScalingActive: 'False AmbiguousSelector' });
    expect(await conditions('again')).toMatchObject({ ScalingActive: 'False AmbiguousSelector' });
    expect(await events('again')).toContain(
      'AmbiguousSelector: pods by selector app=web are controlled by multiple HPAs: [{again default} {web default}]',
    );
    await inDefault(HorizontalPodAutoscaler).delete('again');
    await advance(45);
    expect(await conditions()).toMatchObject({ ScalingActive: 'True ValidMetricFound' });
  });
});

it('nothing is measured without an autoscaler', async () => {
  await deploy();
  await advance(120);
  expect(measured).toBe(0);
  await scale({ maxReplicas: 2 });
  await advance(40);
  expect(measured).toBe(3);
  await inDefault(HorizontalPodAutoscaler).delete('web');
  await advance(120);
  expect(measured).toBe(3);
});
