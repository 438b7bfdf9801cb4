import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../base/time/clock.ts';
import { planNodes } from './plan-nodes.ts';

/** A machine on which nothing is installed, and a cluster that was never started. */
const OPTIONS = { directory: '/does/not/exist', path: '', clock: systemClock };

const plan = (settings: Partial<Parameters<typeof planNodes>[0]> = {}) =>
  planNodes({ name: 'dev', runtime: 'simulated', store: 'embedded', ...settings }, OPTIONS);

test('real nodes are few', async () => {
  expect((await plan({ runtime: 'process', nodes: 2 })).names).toEqual(['dev-node-1', 'dev-node-2']);
  await expect(plan({ runtime: 'process', nodes: 33 })).rejects.toThrow('33 nodes need --runtime simulated');
});

test('an endpoint is used by containerd alone', async () => {
  const containerRuntimeEndpoint = '/does/not/exist.sock';
  for (const runtime of ['auto', 'containerd'] as const) {
    await expect(plan({ runtime, containerRuntimeEndpoint })).rejects.toThrow('cannot be used: it does not exist');
  }
  await expect(plan({ runtime: 'process', containerRuntimeEndpoint })).rejects.toThrow('run by --runtime process');
});

test('a cluster has one node unless it is told otherwise', async () => {
  expect(await plan()).toMatchObject({ runtime: 'simulated', names: ['dev-node-1'], clusterCidr: '10.244.0.0/16' });
  expect((await plan({ nodes: 2 })).names).toEqual(['dev-node-1', 'dev-node-2']);
  expect((await plan({ nodes: 0 })).names).toEqual([]);
});

test('real nodes are named as the settings say', async () => {
  const settings = { runtime: 'process', nodeName: 'machine-1' } as const;
  expect((await plan({ ...settings, nodes: 3 })).names).toEqual(['machine-1', 'machine-1-2', 'machine-1-3']);
  expect((await plan({ ...settings, runtime: 'simulated' })).names).toEqual(['dev-node-1']);
});

test('servers on a shared store run nodes only when they are asked for: they would all run the same ones', async () => {
  expect((await plan({ store: 'etcd', runtime: 'auto' })).names).toEqual([]);
  expect((await plan({ store: 'etcd', nodes: 1, runtime: 'process' })).names).toEqual(['dev-node-1']);
  expect((await plan({ store: 'etcd', runtime: 'simulated' })).names).toEqual(['dev-node-1']);
});

test('pod addresses have room for all nodes', async () => {
  expect((await plan({ nodes: 300 })).clusterCidr).toBe('10.128.0.0/9');
  await expect(plan({ nodes: 9, clusterCidr: '10.0.0.0/27' })).rejects.toThrow('10.0.0.0/27 has no room for the pods');
});

test('rules are read, and a file that cannot be used is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qd-rules-'));
  const file = join(folder, 'rules.yaml');
  try {
    await expect(plan({ simulation: file })).rejects.toThrow(`--simulation ${file} cannot be used: it does not exist`);
    await writeFile(file, 'nodes: [{ labels: { a: b } }]');
    expect((await plan({ simulation: file })).rules.nodes).toHaveLength(1);
    expect((await plan({ simulation: '' })).rules.nodes).toEqual([]);
    await writeFile(file, 'node: []');
    await expect(plan({ simulation: file })).rejects.toThrow('cannot be used');
  } finally {
    await rm(folder, { recursive: true });
  }
});
