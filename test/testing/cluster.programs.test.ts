/** A cluster inside a test, as users of `quarterdeck/testing` have it. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, test } from 'vitest';
import type { ClusterOptions, Cluster as ClusterType, KubeObject } from '../../src/testing/contract.ts';
import { Cluster } from '../../src/testing/index.ts';

const started: ClusterType[] = [];
async function start(options?: ClusterOptions): Promise<ClusterType> {
  const cluster = await Cluster.start(options);
  started.push(cluster);
  return cluster;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.stop()));
});

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const deployment = (replicas = 3) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template },
});
const cronJob = (schedule: string) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick' },
  spec: {
    schedule,
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } } },
    },
  },
});
const pods = async (cluster: ClusterType) => (await cluster.client.of('Pod').in('default').list()).items;

describe('a cluster inside a test', () => {
  test('runs a Deployment: controllers, scheduler and nodes', async () => {
    const cluster = await start({ nodes: 2 });
    await cluster.apply(deployment());
    const found = await cluster.waitFor('deployment/web', 'Available');
    expect(found.status.availableReplicas).toBe(3);
    expect((await pods(cluster)).map(({ status }) => status.phase)).toEqual(['Running', 'Running', 'Running']);
  });

  test('applies YAML with several documents, and changes what it applied before', async () => {
    const cluster = await start();
    const yaml = (value: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop }
data: { key: ${value} }
`;
    await cluster.apply(yaml('one'));
    await cluster.apply(yaml('two'));
    expect((await cluster.get('cm/shop/settings')).data).toEqual({ key: 'two' });
    await expect(cluster.apply('apiVersion: v1\nkind: Nothing\nmetadata: { name: x }')).rejects.toThrow(
      'v1 has no kind Nothing',
    );
    await expect(cluster.get('cm/shop')).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
  });

  test('errors have the line of the test in their trace, although V8 keeps few frames', async () => {
    const cluster = await start();
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 10;
    try {
      const calls: readonly (() => Promise<unknown>)[] = [
        () => cluster.get('pod/nosuch'),
        () => cluster.client.of('Pod').in('default').get('nosuch'),
        () => cluster.client.of('Pod').in('default').deleteCollection({ labelSelector: '(' }),
        () => cluster.client.as('jane').of('Pod').list(),
        () => cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'no containers' } }),
        () => cluster.failNode('nosuch'),
      ];
      for (const call of calls) {
        async function callOfTheTest() {
          await call();
        }
        await expect(callOfTheTest()).rejects.toMatchObject({
          name: 'ApiError',
          stack: expect.stringContaining('callOfTheTest'),
        });
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  });

  test('objects belong to the test: changing one that was read changes nothing until it is sent', async () => {
    const cluster = await start();
    const deployments = cluster.client.of('Deployment').in('default');
    const changed = async (object: KubeObject) => {
      object.spec.replicas = 7;
      return (await deployments.get('web')).spec.replicas;
    };
    const [applied] = await cluster.apply(deployment(1));
    expect(await changed(applied!)).toBe(1);
    await cluster.settle();
    expect(await changed((await deployments.list()).items[0]!)).toBe(1);
    for await (const { object } of await deployments.watch()) {
      expect(await changed(object)).toBe(1);
      break;
    }
    const read = await cluster.get('deployment/web');
    expect(await changed(read)).toBe(1);
    await deployments.update(read);
    await cluster.settle();
    expect(await pods(cluster)).toHaveLength(7);
  });

  test('settles when nothing more would happen, and says what goes on to change', async () => {
    const cluster = await start();
    await cluster.apply(deployment());
    await cluster.settle();
    expect((await cluster.get('deployment/web')).status.readyReplicas).toBe(3);
    const before = cluster.now;
    await cluster.settle();
    expect(cluster.now.getTime() - before.getTime()).toBeLessThanOrEqual(10_000);
    await cluster.apply(cronJob('* * * * *'));
    await expect(cluster.settle({ quiet: '2m', within: '10m' })).rejects.toThrow(/not settled within 10m.*batch|core/);
  });

  test('a day of a CronJob takes no day', async () => {
    const cluster = await start();
    await cluster.apply(cronJob('0 * * * *'));
    await cluster.advance('1d');
    const { status } = await cluster.get('cronjob/tick');
    expect(status.lastScheduleTime).toBe('2030-01-02T00:00:00Z');
    const history = await cluster.history('cronjob/tick');
    const runs = new Set(history.map(({ object }) => object.status.lastScheduleTime).filter(Boolean));
    expect(runs.size).toBe(24);
  });

  test('the history of an object has all its versions', async () => {
    const cluster = await start();
    const map = (value: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { value } });
    await cluster.apply(map('1'));
    await cluster.advance('10m');
    await cluster.apply(map('2'));
    await cluster.client.of('ConfigMap').in('default').delete('m');
    const history = await cluster.history('configmap/m');
    expect(
      history.map(({ type, time, object }) => [type, time.toISOString().slice(11, 16), object.data.value]),
    ).toEqual([
      ['created', '00:00', '1'],
      ['updated', '00:10', '2'],
      ['deleted', '00:10', '2'],
    ]);
    const [applied] = await cluster.apply(deployment());
    const [created] = await cluster.history('deployment/web');
    expect(created!.object.metadata.managedFields).toEqual(applied!.metadata.managedFields);
  });

  test('a failed node loses its pods after the usual time, and comes back', async () => {
    const cluster = await start({ nodes: 2, seed: 3 });
    await cluster.apply(deployment(4));
    await cluster.settle();
    await cluster.failNode('node-1');
    await cluster.waitFor('node/node-1', ({ status }) =>
      status.conditions.some((each: any) => each.type === 'Ready' && each.status === 'Unknown'),
    );
    await cluster.waitFor(
      async () => (await pods(cluster)).filter(({ spec }) => spec.nodeName === 'node-2').length === 4,
      { within: '10m' },
    );
    await cluster.recoverNode('node-1');
    expect((await cluster.waitFor('node/node-1', 'Ready')).spec.taints ?? []).toEqual([]);
  });

  test('a crashed container is restarted, each time anew', async () => {
    const cluster = await start();
    await cluster.apply(deployment(1));
    await cluster.settle();
    const [pod] = await pods(cluster);
    for (const restarts of [1, 2]) {
      await cluster.crashPod(pod!, { exitCode: 3, reason: 'OutOfLuck' });
      const found = await cluster.waitFor(pod!, ({ status }) => status.containerStatuses[0].restartCount === restarts);
      expect(found.status.containerStatuses[0].lastState.terminated).toMatchObject({
        exitCode: 3,
        reason: 'OutOfLuck',
      });
      await cluster.waitFor(pod!, 'Ready');
    }
  });

  test('the official client joins over TLS', async () => {
    const cluster = await start();
    const config = new KubeConfig();
    config.loadFromString(await cluster.kubeconfig());
    expect(await cluster.kubeconfig()).toBe(await cluster.kubeconfig());
    const api = config.makeApiClient(CoreV1Api);
    const namespaces = await api.listNamespace();
    expect(namespaces.items.map(({ metadata }) => metadata?.name)).toContain('kube-system');
    await cluster.apply(deployment(2));
    await cluster.settle();
    expect((await api.listNamespacedPod({ namespace: 'default' })).items).toHaveLength(2);
  });

  test('qd undoes a change through the kubeconfig', async () => {
    const cluster = await start();
    const file = join(tmpdir(), 'undo.kubeconfig');
    await writeFile(file, await cluster.kubeconfig());
    await cluster.apply(deployment(1));
    await cluster.advance('1m');
    await cluster.apply(deployment(4));
    const program = ['bin/qd.cjs', 'undo', 'deployment', 'web', '--yes', '--kubeconfig', file];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    expect(stdout).toContain('changed back');
    expect((await cluster.get('deployment/web')).spec.replicas).toBe(1);
    await rm(file);
  });

  test('tokens expire by the time of the cluster', async () => {
    const cluster = await start();
    const config = new KubeConfig();
    config.loadFromString(await cluster.kubeconfig());
    const admin = config.makeApiClient(CoreV1Api);
    const { status } = await admin.createNamespacedServiceAccountToken({
      ...{ name: 'default', namespace: 'default' },
      body: { spec: { audiences: [], expirationSeconds: 3600 } } as never,
    });
    const bearer = new KubeConfig();
    bearer.loadFromOptions({
      clusters: config.clusters,
      users: [{ name: 'pod', token: status!.token }],
      contexts: [{ name: 'pod', cluster: config.clusters[0]!.name, user: 'pod' }],
      currentContext: 'pod',
    });
    const pod = bearer.makeApiClient(CoreV1Api);
    // It is authenticated, and has no right to list pods.
    await expect(pod.listNamespacedPod({ namespace: 'default' })).rejects.toMatchObject({ code: 403 });
    await cluster.advance('61m');
    await expect(pod.listNamespacedPod({ namespace: 'default' })).rejects.toMatchObject({ code: 401 });
  });

  test('a cluster that starts at another time differs only in its times', async () => {
    const now = new Date('2040-05-06T07:08:09.123Z');
    const cluster = await start({ seed: 1, now });
    const other = await start({ seed: 1 });
    expect(cluster.now).toEqual(now);
    for (const kind of ['Namespace', 'ServiceAccount', 'Secret', 'ConfigMap', 'ClusterRole', 'Node']) {
      const [moved, known] = await Promise.all(
        [cluster, other].map(async (each) => JSON.stringify((await each.client.of(kind).list()).items)),
      );
      expect(moved).toContain('2040-05-06T07:08:09');
      expect(moved).not.toContain('2030-01-01');
      expect(moved!.replaceAll(/2040-05-06T07:08:09(\.\d+)?/g, 'T')).toBe(
        known!.replaceAll(/2030-01-01T00:00:00(\.\d+)?/g, 'T'),
      );
    }
  });

  test('reads the past, exactly as it was', async () => {
    const cluster = await start();
    const map = (value: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { value } });
    const [then] = await cluster.apply(map('1'));
    await cluster.advance('1d');
    await cluster.apply(map('2'));
    const maps = cluster.client.of('ConfigMap').in('default');
    await maps.delete('m');
    const at = { resourceVersion: then!.metadata.resourceVersion!, resourceVersionMatch: 'Exact' } as const;
    const { items } = await maps.list({ ...at, fieldSelector: 'metadata.name=m' });
    expect(items.map(({ data }) => data)).toEqual([{ value: '1' }]);
    expect((await maps.list({ fieldSelector: 'metadata.name=m' })).items).toEqual([]);
  });

  test('a user has only their rights', async () => {
    const cluster = await start();
    await expect(cluster.client.as('eve').of('Secret').in('default').list()).rejects.toMatchObject({ code: 403 });
  });

  test('await using stops the cluster', async () => {
    let outer: ClusterType;
    {
      await using cluster = await Cluster.start();
      outer = cluster;
    }
    await expect(
      outer.client
        .of('Pod')
        .in('default')
        .create({ metadata: { name: 'x' } }),
    ).rejects.toThrow();
  });
});

describe('snapshots', () => {
  test('a fork goes on where the cluster was, and neither sees the other', async () => {
    const cluster = await start();
    await cluster.apply(deployment());
    await cluster.settle();
    const fork = await cluster.fork();
    started.push(fork);
    expect(fork.now).toEqual(cluster.now);
    await fork.apply(deployment(5));
    await fork.settle();
    expect(await pods(fork)).toHaveLength(5);
    expect(await pods(cluster)).toHaveLength(3);
    const before = (await pods(cluster)).map(({ metadata }) => metadata.uid);
    expect((await pods(fork)).map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(before));
  });

  test('a fork shows an object that leaves a selection as it was, with the version of the change', async () => {
    const cluster = await start();
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', labels: { color: 'blue' } } };
    const [applied] = await cluster.apply(map);
    const forks = [await cluster.fork(), await cluster.fork()];
    started.push(...forks);
    for (const fork of forks) {
      expect(await fork.get('configmap/m')).toEqual(applied);
      const maps = fork.client.of('ConfigMap').in('default');
      const watch = await maps.watch({
        labelSelector: 'color=blue',
        resourceVersion: applied!.metadata.resourceVersion!,
      });
      const changed = await maps.patch('m', { type: 'merge', changes: { metadata: { labels: { color: 'red' } } } });
      for await (const { type, object } of watch) {
        expect(type).toBe('DELETED');
        expect(object.metadata).toMatchObject({
          labels: { color: 'blue' },
          resourceVersion: changed.metadata.resourceVersion,
        });
        break;
      }
    }
    expect(await cluster.get('configmap/m')).toEqual(applied);
  });

  test('forks of one snapshot that do the same have the same history, whoever reads first', async () => {
    const cluster = await start();
    await cluster.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'own' } });
    const snapshot = await cluster.snapshot();
    const { spec, ...rest } = deployment(5);
    const own = { ...template, spec: { ...template.spec, serviceAccountName: 'own' } };
    const histories: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const fork = await start({ from: snapshot });
      await fork.apply({ ...rest, spec: { ...spec, template: own } });
      await fork.settle();
      histories.push(await Promise.all((await pods(fork)).map((pod) => fork.history(pod))));
    }
    expect(histories[1]).toEqual(histories[0]);
    expect(histories[2]).toEqual(histories[0]);
  });

  test('a snapshot is saved to a file, and a cluster starts from it', async () => {
    const file = join(tmpdir(), 'saved.snapshot');
    const cluster = await start({ nodes: ['a', 'b'] });
    await cluster.apply(deployment());
    await cluster.settle();
    const snapshot = await cluster.snapshot();
    await snapshot.save(file);
    const other = await start({ from: file });
    await rm(file);
    expect(await pods(other)).toEqual(await pods(cluster));
    await other.apply(deployment(6));
    await other.waitFor('deployment/web', ({ status }) => status.readyReplicas === 6);
    expect(new Set((await pods(other)).map(({ spec }) => spec.nodeName))).toEqual(new Set(['a', 'b']));
    await expect(Cluster.start({ from: import.meta.filename })).rejects.toThrow('is not a snapshot');
  });
});

describe('faults', () => {
  test('requests of components fail as often as they should, and are tried again', async () => {
    const cluster = await start({ seed: 5 });
    const fault = cluster.addFault({ verbs: ['create'], resources: ['pods'], error: 500, rate: 0.5 });
    await cluster.apply(deployment(10));
    await cluster.waitFor('deployment/web', 'Available');
    expect(fault.hits).toBeGreaterThan(2);
    fault.remove();
    const before = fault.hits;
    await cluster.apply(deployment(12));
    await cluster.waitFor('deployment/web', ({ status }) => status.readyReplicas === 12);
    expect(fault.hits).toBe(before);
  });

  test.each([409, 429, 503] as const)('a fault of %s ends after its number of times', async (error) => {
    const cluster = await start();
    cluster.addFault({ users: ['admin'], error, times: 1 });
    await expect(cluster.get('node/node-1')).rejects.toMatchObject({ code: error });
    await cluster.get('node/node-1');
  });

  test('latency and late watches move with the clock; dropped watches are resumed', async () => {
    const cluster = await start();
    cluster.addFault({ verbs: ['create'], resources: ['pods'], latency: '30s' });
    cluster.addFault({ verbs: ['watch'], dropWatches: '5s' });
    await cluster.advance('20m');
    const begin = cluster.now.getTime();
    await cluster.apply(deployment(1));
    await cluster.waitFor('deployment/web', 'Available');
    expect(cluster.now.getTime() - begin).toBeGreaterThanOrEqual(30_000);
  });

  test('stale watches show a change that late', async () => {
    const cluster = await start();
    const seen: string[] = [];
    cluster.addFault({ verbs: ['watch'], resources: ['configmaps'], users: ['eve'], staleWatches: '30s' });
    const end = new AbortController();
    const maps = cluster.client.as('eve', ['system:masters']).of('ConfigMap').in('default');
    const watch = await maps.watch({ fieldSelector: 'metadata.name=m', signal: end.signal });
    const following = (async () => {
      for await (const { type } of watch) seen.push(type);
    })();
    await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } });
    await cluster.advance('29s');
    expect(seen).toEqual([]);
    await cluster.advance('1s');
    expect(seen).toEqual(['ADDED']);
    end.abort();
    await following.catch(() => undefined);
  });

  test('a dropped watch ends after its time, and nothing that happens in between is lost to an informer', async () => {
    const cluster = await start();
    const fault = cluster.addFault({ verbs: ['watch'], resources: ['pods', 'replicasets'], dropWatches: '5s' });
    const maps = cluster.client.as('eve', ['system:masters']).of('Pod').in('default');
    let hasEnded = false;
    const following = (async () => {
      for await (const _ of await maps.watch());
      hasEnded = true;
    })();
    await cluster.advance('4s');
    expect(hasEnded).toBe(false);
    await cluster.advance('1s');
    await following;
    const before = fault.hits;
    await cluster.apply(deployment(3));
    await cluster.waitFor('deployment/web', 'Available');
    await cluster.advance('1m');
    // Components resume theirs every five seconds, also those that ran before the fault.
    expect(fault.hits - before).toBeGreaterThan(5 * 12);
  });

  test('nodes behind a cut network are silent, and report what happened meanwhile', async () => {
    const cluster = await start({ nodes: 3 });
    const selector = { matchLabels: { app: 'web' } };
    const metadata = { name: 'web' };
    await cluster.apply({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector, template } });
    await cluster.settle();
    const connect = await cluster.cutNetwork('node-1', 'node-2');
    const ready = async () =>
      (await cluster.client.of('Node').list()).items
        .filter(({ status }) => status.conditions.some((each: any) => each.type === 'Ready' && each.status === 'True'))
        .map(({ metadata: { name } }) => name);
    await cluster.advance('2m');
    expect(await ready()).toEqual(['node-3']);
    await connect();
    await cluster.waitFor(async () => (await ready()).length === 3);
    await cluster.waitFor('daemonset/web', ({ status }) => status.numberReady === 3);
  });

  test('a store that stalls holds writes back until it goes on', async () => {
    const cluster = await start();
    const go = cluster.stallStore();
    let isDone = false;
    const applying = cluster.apply(deployment(1)).then(() => {
      isDone = true;
    });
    await cluster.advance('1m');
    expect(isDone).toBe(false);
    go();
    await applying;
    await cluster.waitFor('deployment/web', 'Available');
  });
});
