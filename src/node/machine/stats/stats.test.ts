import { expect, test } from 'vitest';
import type { Container, ContainerUsage, Sandbox } from '../../runtime/runtime.ts';
import type { MachineUsage } from '../observe.ts';
import { nodeUsage } from './node-usage.ts';
import { resourceMetrics } from './resource-metrics.ts';
import { runningPods } from './running-pods.ts';
import { addSamples, NO_SAMPLES, nanocoresOf } from './samples.ts';
import { summary } from './summary.ts';

const DISK = { capacityBytes: 1000, availableBytes: 400, inodes: 100, freeInodes: 90 };
const machine = (time: number, cpuNanoseconds: number): MachineUsage => ({
  time,
  cpuNanoseconds,
  memory: { totalBytes: 1000, usedBytes: 700, workingSetBytes: 600, rssBytes: 500 },
  processes: { running: 7, max: 99 },
  nodeDisk: DISK,
  imageDisk: DISK,
});
const usage = (id: string, time: number, cpuNanoseconds: number): ContainerUsage => ({
  id,
  time,
  cpuNanoseconds,
  workingSet: 50,
  rss: 40,
  writableBytes: 30,
});
const SANDBOXES = [{ id: 's', pod: { namespace: 'ns', name: 'web', uid: 'u' }, createdAt: 1000 }] as Sandbox[];
const container = (id: string, name: string, state = 'running') =>
  ({ id, name, sandboxId: 's', state, startedAt: 2000 }) as Container;
const CONTAINERS = [container('1', 'a'), container('2', 'b'), container('3', 'dead', 'exited')];

const once = addSamples(NO_SAMPLES, machine(10_000, 1e9), [usage('1', 10_000, 5e8), usage('2', 10_000, 0)]);
const twice = addSamples(once, machine(20_000, 6e9), [usage('1', 20_000, 15e8), usage('2', 20_000, 0)]);
const pods = (samples = twice) => runningPods(SANDBOXES, CONTAINERS, samples);

test('a rate needs two samples', () => {
  expect(nanocoresOf(once.node!)).toBeUndefined();
  expect(nanocoresOf(twice.node!)).toBe(5e8);
  expect(nodeUsage(once, pods(once))).toBeUndefined();
});

test('samples too close to each other are compared with an older one', () => {
  const close = addSamples(twice, machine(20_100, 6.1e9), []);
  expect(nanocoresOf(close.node!)).toBeCloseTo(5.1e9 / 10.1, -1);
});

test('a container that counts from zero again has no rate yet', () => {
  const restarted = addSamples(twice, machine(30_000, 6e9), [usage('1', 30_000, 1)]);
  expect(nanocoresOf(restarted.containers.get('1')!)).toBeUndefined();
  expect(restarted.containers.has('2')).toBe(false);
});

test('usage for metrics.k8s.io', () => {
  expect(nodeUsage(twice, pods())).toEqual({
    time: 20_000,
    window: 10_000,
    node: { cpu: 5e8, memory: 600 },
    pods: [
      {
        namespace: 'ns',
        name: 'web',
        containers: [
          { name: 'a', cpu: 1e8, memory: 50 },
          { name: 'b', cpu: 0, memory: 50 },
        ],
      },
    ],
  });
});

test('a pod with a container that has one sample only is left out', () => {
  const samples = addSamples(once, machine(20_000, 6e9), [usage('1', 20_000, 6e8), usage('new', 20_000, 0)]);
  const found = runningPods(SANDBOXES, [...CONTAINERS, container('new', 'n')], samples);
  expect(nodeUsage(samples, found)?.pods).toEqual([]);
});

test('the summary has node, pods, containers and volumes', () => {
  const document = summary({
    nodeName: 'n1',
    bootedAt: 0,
    samples: twice,
    pods: pods(),
    imageBytes: 77,
    writtenBy: () => ({ volumes: new Map([['data', 8]]), shared: 3, containers: new Map([['a', 4]]) }),
  });
  expect(document).toMatchObject({
    node: {
      nodeName: 'n1',
      startTime: '1970-01-01T00:00:00Z',
      cpu: { time: '1970-01-01T00:00:20Z', usageNanoCores: 5e8, usageCoreNanoSeconds: 6e9 },
      memory: { availableBytes: 400, usageBytes: 700, workingSetBytes: 600, rssBytes: 500 },
      fs: { availableBytes: 400, capacityBytes: 1000, usedBytes: 600, inodesFree: 90, inodes: 100, inodesUsed: 10 },
      runtime: { imageFs: { usedBytes: 77 } },
      rlimit: { maxpid: 99, curproc: 7 },
    },
    pods: [
      {
        podRef: { name: 'web', namespace: 'ns', uid: 'u' },
        startTime: '1970-01-01T00:00:01Z',
        containers: [
          {
            name: 'a',
            startTime: '1970-01-01T00:00:02Z',
            cpu: { usageNanoCores: 1e8, usageCoreNanoSeconds: 15e8 },
            memory: { workingSetBytes: 50, rssBytes: 40 },
            rootfs: { usedBytes: 30 },
          },
          { name: 'b' },
        ],
        cpu: { usageNanoCores: 1e8, usageCoreNanoSeconds: 15e8 },
        memory: { workingSetBytes: 100 },
        volume: [{ name: 'data', usedBytes: 8 }],
        'ephemeral-storage': { usedBytes: 75 },
      },
    ],
  });
});

test('metrics in the text of Prometheus', () => {
  const text = resourceMetrics(twice, pods());
  expect(text).toContain(
    '# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the container in core-seconds\n' +
      '# TYPE container_cpu_usage_seconds_total counter\n' +
      'container_cpu_usage_seconds_total{container="a",namespace="ns",pod="web"} 1.5 20000\n',
  );
  expect(text).toContain('\nnode_memory_working_set_bytes 600 20000\n');
  expect(text).toContain('\npod_memory_working_set_bytes{namespace="ns",pod="web"} 100 20000\n');
  expect(text).toContain('\ncontainer_start_time_seconds{container="b",namespace="ns",pod="web"} 2 20000\n');
  expect(text.endsWith('resource_scrape_error 0\n')).toBe(true);
});

test('a pod with a cgroup of its own has what all in it use, not the sum of its containers', () => {
  const ofPod = (time: number, cpuNanoseconds: number) => ({ ...usage('s', time, cpuNanoseconds), workingSet: 500 });
  const first = addSamples(NO_SAMPLES, machine(10_000, 1e9), [usage('1', 10_000, 5e8), ofPod(10_000, 7e8)]);
  const samples = addSamples(first, machine(20_000, 6e9), [usage('1', 20_000, 15e8), ofPod(20_000, 27e8)]);
  const input = {
    nodeName: 'n1',
    bootedAt: 0,
    samples,
    pods: pods(samples),
    imageBytes: 0,
    writtenBy: () => undefined,
  };
  expect(summary(input)).toMatchObject({
    pods: [
      {
        cpu: { usageNanoCores: 2e8, usageCoreNanoSeconds: 27e8 },
        memory: { workingSetBytes: 500, rssBytes: 40 },
        containers: [{ name: 'a', cpu: { usageNanoCores: 1e8 } }],
      },
    ],
  });
});

test('volumes of drivers are shown with their claims, and do not count as storage of the node', () => {
  const stats = { name: 'disk', claim: 'mine', availableBytes: 60, capacityBytes: 100, usedBytes: 40 };
  const input = {
    nodeName: 'n1',
    bootedAt: 0,
    samples: twice,
    pods: pods(),
    imageBytes: 0,
    writtenBy: () => undefined,
  };
  expect(summary({ ...input, driverVolumesOf: () => [stats] })).toMatchObject({
    pods: [
      {
        volume: [{ name: 'disk', pvcRef: { name: 'mine', namespace: 'ns' }, usedBytes: 40, capacityBytes: 100 }],
        'ephemeral-storage': { usedBytes: 60 },
      },
    ],
  });
});
