/** Tests storage as users see it with kubectl: claims, the volumes that are made for them, growth, and leftovers. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { newDirectory, type Qd, startQd } from './program.ts';

let qd: Qd;
let home: string;
let folder: string;

const kubectl = async (...args: string[]) => {
  const { stdout } = await promisify(execFile)(kubectlProgram, ['--kubeconfig', qd.kubeconfig, ...args]);
  return stdout.trim();
};
const apply = async (...objects: object[]) => {
  const file = join(folder, 'objects.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await kubectl('apply', '-f', file);
};
const VOLUMES = '/api/v1/persistentvolumes';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const PODS = '/api/v1/namespaces/default/pods';
/** Resolves when an event of an object with this reason is recorded. */
const eventOf = (name: string, reason: string) =>
  qd.until(
    '/api/v1/namespaces/default/events',
    (event) => event.reason === reason && event.involvedObject.name === name,
  );
const phase = (collection: string, name: string, wanted: string) =>
  qd.until(collection, ({ metadata, status }) => metadata.name === name && status.phase === wanted);
const field = (object: string, path: string) => kubectl('get', object, '-o', `jsonpath={${path}}`);
const row = async (...object: string[]) => (await kubectl('get', ...object, '--no-headers')).replace(/ {2,}/g, ' ');
const isReady = (pod: string) => kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=30s');

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const pod = (name: string, claimName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    containers: [{ name: 'main', image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
});

const start = () => startQd({ directory: home, flags: ['--runtime', 'simulated', '--nodes', '2'] });

describe.skipIf(!hasKubectl)('storage', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'qd-volumes-'));
    home = await newDirectory();
    qd = await start();
    await qd.until('/apis/storage.k8s.io/v1/storageclasses', () => true);
  });
  afterAll(async () => {
    await qd.stop();
    for (const each of [folder, home]) await rm(each, { recursive: true });
  });

  test('has a default class', async () => {
    expect(await row('storageclass')).toMatch(
      /^standard \(default\) quarterdeck\.io\/node-directory Delete WaitForFirstConsumer true \S+$/,
    );
  });

  test('a claim waits for its first pod, is bound with it, and grows', async () => {
    await apply(claim('data'));
    expect(await row('pvc', 'data')).toMatch(/^data Pending standard( <unset>)? \S+$/);
    await eventOf('data', 'WaitForFirstConsumer');
    expect(await kubectl('describe', 'pvc', 'data')).toMatch(
      /Normal +WaitForFirstConsumer +\S+.*persistentvolume-controller +waiting for first consumer to be created before/,
    );
    await apply(pod('web', 'data'));
    await isReady('web');
    const volume = await field('pvc/data', '.spec.volumeName');
    expect(await row('pvc', 'data')).toMatch(new RegExp(`^data Bound ${volume} 1Gi RWO standard`));
    expect(await row('pv', volume)).toMatch(new RegExp(`^${volume} 1Gi RWO Delete Bound default/data standard`));
    const node = await field('pod/web', '.spec.nodeName');
    expect(await kubectl('describe', 'pv', volume)).toMatch(new RegExp(`kubernetes.io/hostname in \\[${node}\\]`));
    expect(await field(`pv/${volume}`, '.spec.local.path')).toBe(`${home}/data/volumes/${node}/${volume}`);
    const described = await kubectl('describe', 'pvc', 'data');
    expect(described).toMatch(/(Used|Mounted) By: +web/);
    expect(described).toMatch(/Normal +ExternalProvisioning .*Waiting for a volume to be created/i);
    expect(described).toMatch(new RegExp(`Normal +ProvisioningSucceeded .*Successfully provisioned volume ${volume}`));
    await kubectl('patch', 'pvc', 'data', '-p', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}');
    await qd.until(CLAIMS, ({ status }) => status.capacity?.storage === '2Gi');
    await eventOf('data', 'VolumeResizeSuccessful');
    expect(await row('pv', volume)).toMatch(new RegExp(`^${volume} 2Gi `));
    expect(await kubectl('describe', 'pvc', 'data')).toMatch(
      /Normal +VolumeResizeSuccessful .*Resize volume succeeded/,
    );
  });

  test('a claim stays while a pod uses it, and its volume goes with it', async () => {
    const volume = await field('pvc/data', '.spec.volumeName');
    await kubectl('delete', 'pvc', 'data', '--wait=false');
    expect(await row('pvc', 'data')).toMatch(/^data Terminating /);
    await kubectl('delete', 'pod', 'web');
    await qd.untilGone(CLAIMS, 'data');
    await qd.untilGone(VOLUMES, volume);
    expect(await kubectl('get', 'pv', '-o', 'name')).toBe('');
  });

  test('a volume that is to be kept is kept, and taken up again by hand', async () => {
    await apply(claim('keep'), pod('web', 'keep'));
    await isReady('web');
    const volume = await field('pvc/keep', '.spec.volumeName');
    await kubectl('patch', 'pv', volume, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}');
    await kubectl('delete', 'pod/web', 'pvc/keep');
    await phase(VOLUMES, volume, 'Released');
    await kubectl('patch', 'pv', volume, '--type=json', '-p', '[{"op":"remove","path":"/spec/claimRef"}]');
    await phase(VOLUMES, volume, 'Available');
    const again = claim('again');
    await apply({ ...again, spec: { ...again.spec, volumeName: volume } });
    await phase(CLAIMS, 'again', 'Bound');
    expect(await field(`pv/${volume}`, '.spec.claimRef.name')).toBe('again');
    await kubectl('delete', 'pvc', 'again');
    await kubectl('delete', 'pv', volume);
  });

  test('a pod says what its claim lacks', async () => {
    await apply(pod('lonely', 'none'));
    await eventOf('lonely', 'FailedScheduling');
    expect(await kubectl('describe', 'pod', 'lonely')).toMatch(
      /FailedScheduling .*0\/2 nodes are available: persistentvolumeclaim "none" not found/,
    );
    await apply(claim('none'));
    await isReady('lonely');
    await kubectl('delete', 'pod/lonely', 'pvc/none');
  });

  test('a StatefulSet keeps the storage of each pod through scaling, and through a kill', async () => {
    const labels = { app: 'db' };
    await apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim('').spec }],
      },
    });
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=30s');
    const claims = () =>
      kubectl('get', 'pvc', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.spec.volumeName},{end}');
    const before = await claims();
    expect(before).toMatch(/^data-db-0 pvc-\S+,data-db-1 pvc-\S+,$/);
    await kubectl('scale', 'statefulset/db', '--replicas=0');
    await qd.untilGone(PODS, 'db-0');
    expect(await claims()).toBe(before);
    await kubectl('delete', 'storageclass', 'standard');
    await qd.stop('SIGKILL');
    qd = await start();
    await kubectl('scale', 'statefulset/db', '--replicas=2');
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=30s');
    expect(await claims()).toBe(before);
    expect(await kubectl('get', 'storageclass', '-o', 'name')).toBe('');
  });
});
