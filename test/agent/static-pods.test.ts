import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'static-pods-'));
});
afterEach(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true });
});

const start = async () => {
  cluster = await agentCluster({ staticPodDirectory: directory });
  return cluster;
};
const file = (name: string) => join(directory, name);
const write = (name: string, text: string) => writeFile(file(name), text);
const yaml = (name: string, image = 'nginx:1', more = '') => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: {app: ${name}}
spec:
  terminationGracePeriodSeconds: 7
  containers:
  - name: c
    image: ${image}
${more}`;
const json = (name: string) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
    spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
  });
const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const startsOf = (pod: string) => cluster.runtime.calls.filter((call) => call.startsWith(`start ${pod}/`));

test('pods of YAML and JSON files run, and are shown by mirrors that the node owns', async () => {
  await write('web.yaml', yaml('web'));
  await write('db.json', json('db'));
  await write('.hidden.yaml', yaml('hidden'));
  const { until, client, clock } = await start();
  const web = await until('web-n1', isReady);
  await until('db-n1', isReady);
  const node = await client.of(Node).get('n1');
  expect(web.metadata.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true },
  ]);
  const { annotations } = web.metadata;
  const hash = annotations['kubernetes.io/config.hash'];
  expect(hash).toMatch(/^[0-9a-f]{32}$/);
  expect(annotations).toMatchObject({
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.mirror': hash,
    'kubernetes.io/config.seen': expect.stringMatching(/^2030-01-01T/),
  });
  expect(web.spec.nodeName).toBe('n1');
  expect(web.spec.tolerations).toContainEqual({ operator: 'Exists', effect: 'NoExecute' });
  expect(web.status).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/^10\./) });
  expect((await client.of(Pod).in('default').list()).items.map(({ metadata }) => metadata.name).sort()).toEqual([
    'db-n1',
    'web-n1',
  ]);
  await clock.advance(1_000);
  expect(cluster.complaints).toEqual([]);
});

test('files that appear, change and go while the agent runs', async () => {
  const { until, runtime } = await start();
  await write('web.yaml', yaml('web'));
  const first = await until('web-n1', isReady);
  runtime.present.add('nginx:2');
  await write('web.yaml', yaml('web', 'nginx:2'));
  const second = await until('web-n1', (pod) => isReady(pod) && pod.spec.containers[0].image === 'nginx:2');
  expect(second.metadata.uid).not.toBe(first.metadata.uid);
  // The old one ends, with its grace period, before the new one starts.
  const calls = runtime.calls.filter((call) => /^(start|stop) /.test(call));
  expect(calls).toEqual(['start web-n1/c/0', 'stop web-n1/c/0 7', 'start web-n1/c/0']);
  await rm(file('web.yaml'));
  await until('web-n1', (pod) => pod === undefined);
  expect(runtime.size).toBe(0);
  expect(cluster.volumes.prepared.size).toBe(0);
});

test('a renamed file is another pod', async () => {
  const { until, runtime } = await start();
  await write('web.yaml', yaml('web'));
  await until('web-n1', isReady);
  const before = runtime.newest('web-n1', 'c')?.id;
  await rename(file('web.yaml'), file('other.yaml'));
  await until(
    'web-n1',
    () => runtime.newest('web-n1', 'c')?.id !== before && runtime.newest('web-n1', 'c') !== undefined,
  );
  await until('web-n1', isReady);
  expect(startsOf('web-n1')).toHaveLength(2);
  expect(runtime.size).toBe(2);
});

test('a file that is written again unchanged changes nothing', async () => {
  const { until, clock } = await start();
  await write('web.yaml', yaml('web'));
  await until('web-n1', isReady);
  await write('web.yaml', yaml('web'));
  await write('db.json', json('db'));
  await until('db-n1', isReady);
  await clock.advance(5_000);
  expect(startsOf('web-n1')).toHaveLength(1);
});

test('deleting a mirror does not stop the pod, and the mirror comes back', async () => {
  await write('web.yaml', yaml('web'));
  const { until, runtime } = await start();
  const { metadata } = await until('web-n1', isReady);
  await cluster.delete('web-n1');
  const again = await until('web-n1', (pod) => pod && pod.metadata.uid !== metadata.uid && isReady(pod));
  expect(again.status.containerStatuses[0].containerID).toBe('fake://c2');
  await cluster.delete('web-n1', { gracePeriodSeconds: 0 });
  await until('web-n1', (pod) => pod && pod.metadata.uid !== again.metadata.uid && isReady(pod));
  expect(startsOf('web-n1')).toHaveLength(1);
  expect(runtime.calls.some((call) => call.startsWith('stop'))).toBe(false);
});

test('a mirror that a client has changed is created again', async () => {
  await write('web.yaml', yaml('web'));
  const { until, client } = await start();
  const { metadata } = await until('web-n1', isReady);
  const changes = { spec: { containers: [{ name: 'c', image: 'nginx:9' }] } };
  await client.of(Pod).in('default').patch('web-n1', { type: 'strategic', changes });
  const again = await until('web-n1', (pod) => pod && pod.metadata.uid !== metadata.uid && isReady(pod));
  expect(again.spec.containers[0].image).toBe('nginx:1');
  expect(startsOf('web-n1')).toHaveLength(1);
});

test('an invalid file is reported once, and stops neither others nor its last valid version', async () => {
  await write('web.yaml', yaml('web'));
  const { until, clock, client, complaints } = await start();
  await until('web-n1', isReady);
  await write('web.yaml', yaml('web', 'nginx:1', '    imagePullPolicy: Sometimes\n'));
  await write('broken.yaml', 'kind: [');
  await write('secret.yaml', yaml('secret', 'nginx:1', '  imagePullSecrets: [{name: s}]\n'));
  await write('db.json', json('db'));
  await until('db-n1', isReady);
  await write('db2.json', json('db2'));
  await until('db2-n1', isReady);
  await clock.advance(1_000);
  expect(complaints.map(({ message, path, error }) => [message, path, error])).toEqual([
    ['a manifest of a static pod is invalid', file('broken.yaml'), expect.any(String)],
    ['a manifest of a static pod is invalid', file('secret.yaml'), 'static pods may not reference secrets'],
    ['a manifest of a static pod is invalid', file('web.yaml'), expect.stringMatching(/imagePullPolicy.*"Sometimes"/)],
  ]);
  const { items } = await client.of(Event).in('default').list();
  expect(items.filter(({ reason }) => reason === 'InvalidStaticPod')).toHaveLength(3);
  expect(isReady(await cluster.pod('web-n1'))).toBe(true);
  expect(startsOf('web-n1')).toHaveLength(1);
});

test('static pods run before the server answers, and are shown when it does', async () => {
  await start();
  const { until, runtime, api, restart, client } = cluster;
  await restart(async () => {
    await write('web.yaml', yaml('web'));
    api.isDown = true;
  });
  await until('web-n1', () => runtime.newest('web-n1', 'c')?.state === 'running');
  expect((await client.of(Pod).in('default').list()).items).toEqual([]);
  api.isDown = false;
  await until('web-n1', isReady);
  expect(startsOf('web-n1')).toHaveLength(1);
});

test('a restart of the agent takes static pods over', async () => {
  await write('web.yaml', yaml('web'));
  await write('old.yaml', yaml('old'));
  await write('changed.yaml', yaml('changed'));
  const { until, runtime, restart } = await start();
  const before = await until('web-n1', isReady);
  await until('old-n1', isReady);
  await until('changed-n1', isReady);
  await restart(async () => {
    await rm(file('old.yaml'));
    await write('changed.yaml', yaml('changed', 'nginx:1', '    workingDir: /tmp\n'));
  });
  await until('old-n1', (pod) => pod === undefined);
  await until('changed-n1', (pod) => isReady(pod) && pod.spec.containers[0].workingDir === '/tmp');
  await until('web-n1', isReady);
  expect((await cluster.pod('web-n1')).metadata.uid).toBe(before.metadata.uid);
  expect(startsOf('web-n1')).toHaveLength(1);
  expect(startsOf('changed-n1')).toHaveLength(2);
  expect(runtime.size).toBe(4);
});

test('a pod of the API that claims to come from a file is one of the API', async () => {
  const { run, until, runtime } = await start();
  await run('web', { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
  await until('web', isReady);
  await cluster.delete('web');
  await until('web', (pod) => pod === undefined);
  expect(runtime.size).toBe(0);
});

test('a mirror of nothing is deleted', async () => {
  const { run, until, runtime } = await start();
  await run('web', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } });
  await until('web', (pod) => pod === undefined);
  expect(runtime.calls).toEqual([]);
});
