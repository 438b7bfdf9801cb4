/** A cluster for tests in any language: a clock that is moved by a command, faults, and the objects of a saved test cluster. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cluster } from '../../../src/testing/index.ts';
import { type Qd, runQd, startQd } from '../program.ts';

const PODS = '/api/v1/namespaces/default/pods';
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
};

let qd: Qd;
let folder: string;
const command = (...args: string[]) => runQd([...args, '--kubeconfig', qd.kubeconfig]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qd-restore-'));
  const file = join(folder, 'saved');
  const cluster = await Cluster.start({ nodes: ['quarterdeck-node-1'], now: new Date() });
  await cluster.apply(deployment);
  await cluster.settle();
  await (await cluster.snapshot()).save(file);
  await cluster.stop();
  const flags = ['--runtime', 'simulated', '--nodes', '1', '--store', 'memory', '--clock', 'manual', '--faults'];
  qd = await startQd({ flags: [...flags, '--restore', file] });
});
afterAll(async () => {
  await qd.stop();
  await rm(folder, { recursive: true });
});

const podsIn = async () => (await qd.request('GET', PODS)).body.items as any[];

describe('a cluster for tests', () => {
  test('starts with the objects of a saved test cluster, and goes on with them', async () => {
    expect((await podsIn()).map(({ status }) => status.phase)).toEqual(['Running', 'Running']);
    const patch = { body: { spec: { replicas: 3 } }, type: 'application/merge-patch+json' };
    await qd.request('PATCH', '/apis/apps/v1/namespaces/default/deployments/web', patch);
    await command('clock', 'advance', '5s');
    expect((await podsIn()).map(({ status }) => status.phase)).toEqual(['Running', 'Running', 'Running']);
  });

  test('its time stands still, and moves by a command', async () => {
    const clock = async () =>
      (await qd.request('GET', '/apis/testing.kubernetes.io/v1/clocks/cluster')).body.status.time;
    const before = await clock();
    const run = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] };
    const spec = { schedule: '@hourly', jobTemplate: { spec: { template: { spec: run } } } };
    const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs';
    await qd.request('POST', cronJobs, { body: { metadata: { name: 'tick' }, spec } });
    expect(await clock()).toBe(before);
    const { code, stdout, stderr } = await command('clock', 'advance', '2h');
    expect(code, stderr).toBe(0);
    expect(Date.parse(stdout.trim()) - Date.parse(before)).toBe(7_200_000);
    expect(await clock()).toBe(stdout.trim().replace('Z', '000Z'));
    const { status } = (await qd.request('GET', `${cronJobs}/tick`)).body;
    expect(Date.parse(await clock()) - Date.parse(status.lastScheduleTime)).toBeLessThanOrEqual(3_600_000);
  });

  test('faults disturb requests until they are removed, need rights of their own, and never lock users out', async () => {
    expect((await command('fault', 'add', 'all', '--error', '503')).stdout).toBe('added fault all\n');
    expect((await qd.request('GET', PODS)).code).toBe(503);
    expect((await command('fault', 'list')).stdout).toContain('{"error":503}');
    const asEve = { headers: { 'Impersonate-User': 'eve' } };
    expect((await qd.request('GET', '/apis/testing.kubernetes.io/v1/faults', asEve)).code).toBe(403);
    expect((await command('fault', 'remove', '--all')).stdout).toBe('removed fault all\n');
    expect((await qd.request('GET', PODS)).code).toBe(200);
    const rejected = await command('fault', 'add', 'nothing');
    expect(rejected.stderr).toContain('is required');
    expect(rejected.code).toBe(1);
  });

  test('objects are read as they were, compared with now, and changed back', async () => {
    const maps = '/api/v1/namespaces/default/configmaps';
    const change = (value: string) => ({ body: { data: { value } }, type: 'application/merge-patch+json' });
    await qd.request('POST', maps, { body: { metadata: { name: 'm' }, data: { value: 'old' } } });
    await command('clock', 'advance', '2m');
    await qd.request('PATCH', `${maps}/m`, change('new'));
    const then = await command('get', 'cm', 'm', '--at', '1 minute ago', '-o', 'json');
    expect(JSON.parse(then.stdout).data).toEqual({ value: 'old' });
    expect((await command('get', 'cm/m')).stdout).toMatch(/^NAME +DATA +AGE\nm +1 /);
    const changed = await command('diff', 'configmaps', 'm', '--at', '1m');
    expect(changed).toMatchObject({ code: 1, stdout: 'configmap/m\n- data.value: "old"\n+ data.value: "new"\n' });
    expect((await command('diff', 'cm', 'm', '--at', '0s')).code).toBe(0);

    expect((await command('undo', 'cm', 'm')).stderr).toContain('confirm with --yes');
    expect((await command('undo', 'cm', 'm', '--dry-run')).stdout).toContain('would be changed back');
    expect((await qd.request('GET', `${maps}/m`)).body.data).toEqual({ value: 'new' });
    expect((await command('undo', 'cm', 'm', '--yes')).stdout).toContain('configmap/m: changed back');
    const { uid } = (await qd.request('GET', `${maps}/m`)).body.metadata;
    await qd.request('DELETE', `${maps}/m`);
    expect((await command('undo', 'cm/m', '--yes')).stdout).toContain('created again');
    const again = (await qd.request('GET', `${maps}/m`)).body;
    expect(again.data).toEqual({ value: 'old' });
    expect(again.metadata.uid).not.toBe(uid);

    const tooFar = await command('get', 'cm', '--at', '10 days ago');
    expect(tooFar).toMatchObject({ code: 1, stderr: expect.stringContaining('history of this cluster begins at') });
    expect((await command('get', 'nothing')).stderr).toContain('no kind that is called nothing');
  });

  test('undo goes back step by step, past what controllers add, and forward again', async () => {
    const web = '/apis/apps/v1/namespaces/default/deployments/web';
    const change = (spec: object) =>
      qd.request('PATCH', web, { body: { spec }, type: 'application/strategic-merge-patch+json' });
    const image = (name: string) => ({ template: { spec: { containers: [{ name: 'c', image: name }] } } });
    const now = async () => {
      await command('clock', 'advance', '5s'); // Controllers follow up: the Deployment gets its revision.
      const { spec } = (await qd.request('GET', web)).body;
      return [spec.replicas, spec.template.spec.containers[0].image];
    };
    await change({ replicas: 1, ...image('nginx:1') });
    await change(image('nginx:2'));
    await now();
    await change({ replicas: 4 });
    expect(await now()).toEqual([4, 'nginx:2']);
    const first = await command('undo', 'deploy', 'web', '--yes');
    expect(await now()).toEqual([1, 'nginx:2']);
    expect((await command('undo', 'deploy', 'web', '--yes')).stdout).toContain(
      '+ spec.template.spec.containers[0].image',
    );
    expect(await now()).toEqual([1, 'nginx:1']);
    const [, version = ''] = /To redo the change: qd undo deploy web .*--to (\d+)\n/.exec(first.stdout) ?? [];
    expect((await command('undo', 'deploy', 'web', '--to', version, '--yes')).code).toBe(0);
    expect(await now()).toEqual([4, 'nginx:2']);
  });

  test('undo does not claim to stop a deletion that is under way, and says how to keep the data', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const volume = {
      metadata: { name: 'disk' },
      spec: {
        ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
        ...{ persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: 'default', name: 'data' } },
      },
    };
    await qd.request('POST', '/api/v1/persistentvolumes', { body: volume });
    const spec = { storageClassName: '', volumeName: 'disk', accessModes: ['ReadWriteOnce'] };
    const claim = {
      metadata: { name: 'data', finalizers: ['example.com/wait'] },
      spec: { ...spec, resources: { requests: { storage: '1Gi' } } },
    };
    await qd.request('POST', claims, { body: claim });
    await qd.request('DELETE', `${claims}/data`);
    const undone = await command('undo', 'pvc', 'data', '--yes');
    expect(undone).toMatchObject({ code: 1, stderr: expect.stringContaining('under way and cannot be undone') });
    expect(undone.stdout).toContain(`patch pv disk -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`);
    expect(undone.stdout).not.toContain('changed back');
  });
});
