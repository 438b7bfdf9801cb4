import { expect, test } from 'vitest';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Container, ContainerUsage, Image, Sandbox } from '../runtime/runtime.ts';
import { Housekeeping } from './housekeeping.ts';
import type { MachineObservation } from './local-machine.ts';
import { observationsOf } from './observe.ts';
import { crossed, DEFAULT_THRESHOLDS } from './pressure/thresholds.ts';

const MI = 1024 * 1024;

/** A node with one container of a pod, whose use of resources a test sets. */
function world(parts: { spec?: object; volume?: number; shared?: number; own?: number } = {}) {
  const clock = new ControlledClock();
  const state = {
    cpu: 0,
    memoryFree: 500 * MI,
    diskFree: 900,
    images: [{ id: 'sha256:unused', bytes: 400, tags: [], digests: [], isPinned: false }] as unknown as Image[],
    evicted: [] as string[],
    /** Of the evictions: whether they were for the sake of the node. */
    disruptions: [] as boolean[],
    events: [] as string[],
    rotations: 0,
  };
  const pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [{ name: 'c', resources: {} }], ...parts.spec },
    status: { phase: 'Running' },
  } as unknown as SeenPod;
  const observe = async (): Promise<MachineObservation> => {
    const disk = { capacityBytes: 1000, availableBytes: state.diskFree, inodes: 0, freeInodes: 0 };
    const usage = {
      time: clock.now(),
      cpuNanoseconds: state.cpu,
      memory: { totalBytes: 1000 * MI, usedBytes: 0, workingSetBytes: 1000 * MI - state.memoryFree, rssBytes: 0 },
      processes: { running: 1, max: 100 },
      nodeDisk: disk,
      imageDisk: disk,
    };
    const left = observationsOf(usage);
    return { usage, left, crossed: crossed(DEFAULT_THRESHOLDS, left) };
  };
  const sample = (): ContainerUsage => ({
    ...{ id: '1', time: clock.now(), cpuNanoseconds: state.cpu, workingSet: 50 * MI, rss: 1, writableBytes: 3 * MI },
  });
  const housekeeping = new Housekeeping({
    ...{ clock, log: silent, signal: new AbortController().signal, nodeName: 'node', machine: { observe } },
    rotateLogs: async () => void state.rotations++,
    runtime: {
      usage: async () => [sample()],
      containers: async () => [
        { id: '1', sandboxId: 's', name: 'c', state: 'running', image: 'a', imageId: 'b', startedAt: 0 } as Container,
      ],
      sandboxes: async () => [{ id: 's', pod: { namespace: 'n', name: 'p', uid: 'u' }, createdAt: 0 } as Sandbox],
      images: {
        list: async () => state.images,
        usage: async () => ({ bytes: 400, directory: '/' }),
        remove: async (id: string) => {
          state.images = state.images.filter((image) => image.id !== id);
        },
      } as never,
    },
    pods: () => [pod],
    writtenBy: async () => ({
      volumes: new Map([['v', parts.volume ?? 0]]),
      shared: parts.shared ?? 0,
      containers: new Map([['c', parts.own ?? 0]]),
    }),
    evict: (_, message, isDisruption) => {
      state.evicted.push(message);
      state.disruptions.push(isDisruption);
    },
    warn: (reason) => state.events.push(reason),
  });
  return { clock, state, housekeeping };
}

test('two rounds give rates', async () => {
  const { clock, state, housekeeping } = world();
  await housekeeping.step();
  expect(await housekeeping.usage()).toBeUndefined();
  await clock.advance(10_000);
  state.cpu = 5e9;
  await housekeeping.step();
  expect(await housekeeping.usage()).toMatchObject({
    window: 10_000,
    node: { cpu: 5e8 },
    pods: [{ namespace: 'n', name: 'p', containers: [{ name: 'c', cpu: 5e8, memory: 50 * MI }] }],
  });
  expect(await housekeeping.summary(0)).toMatchObject({ pods: [{ podRef: { name: 'p' }, volume: [{ name: 'v' }] }] });
  expect(await housekeeping.resourceMetrics()).toContain('container_memory_working_set_bytes{container="c"');
});

test('a pod is evicted when memory runs out, and none when there is enough', async () => {
  const { state, housekeeping } = world();
  await housekeeping.step();
  expect(state.evicted).toEqual([]);
  state.memoryFree = 10 * MI;
  await housekeeping.step();
  expect(state.evicted).toEqual([
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 10Mi. ' +
      'Container c was using 50Mi, request is 0, has larger consumption of memory. ',
  ]);
  expect(state.disruptions).toEqual([true]);
  expect(state.events).toEqual(['EvictionThresholdMet']);
});

test('a pod that fills its volume above the limit is evicted on a machine with plenty', async () => {
  const spec = { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] };
  const { state, housekeeping } = world({ spec, volume: 2 * MI });
  await housekeeping.step();
  expect(state.evicted).toEqual(['Usage of EmptyDir volume "v" exceeds the limit "1Mi". ']);
  expect(state.disruptions).toEqual([false]);
});

test.each([
  ['/etc/hosts', { shared: 300 * MI }],
  ['its termination message or its log', { own: 300 * MI }],
])('a pod that writes above its limit into %s is evicted', async (_, written) => {
  const spec = { containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '50Mi' } } }] };
  const { state, housekeeping } = world({ spec, ...written });
  await housekeeping.step();
  expect(state.evicted).toEqual(['Pod ephemeral local storage usage exceeds the total limit of containers 50Mi. ']);
});

test('a critical pod is not evicted, whatever it writes', async () => {
  const volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }];
  const { state, housekeeping } = world({ spec: { volumes, priority: 2_000_000_000 }, volume: 2 * MI });
  await housekeeping.step();
  expect(state.evicted).toEqual([]);
});

test('images are removed when the disk fills up, once they are old enough', async () => {
  const { clock, state, housekeeping } = world();
  state.diskFree = 155;
  await clock.advance(5 * 60_000);
  await housekeeping.step();
  expect(state.events).toEqual(['FreeDiskSpaceFailed']);
  await clock.advance(5 * 60_000);
  await housekeeping.step();
  expect(state.images).toEqual([]);
  expect(state.evicted).toEqual([]);
});

test('under pressure on the disk, images go before pods', async () => {
  const { clock, state, housekeeping } = world();
  await clock.advance(5 * 60_000);
  await housekeeping.step();
  await clock.advance(5 * 60_000);
  state.diskFree = 50;
  await housekeeping.step();
  expect(state.images).toEqual([]);
  expect(state.evicted).toEqual([]);
  await housekeeping.step();
  expect(state.evicted).toHaveLength(1);
});

test('logs are rotated in every round', async () => {
  const { housekeeping, state } = world();
  await housekeeping.step();
  await housekeeping.step();
  expect(state.rotations).toBe(2);
});
