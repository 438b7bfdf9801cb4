import { expect, test } from 'vitest';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Observations } from '../observe.ts';
import { chooseEvicted, type PodConsumption } from './choose-evicted.ts';
import { type LastPressed, notePressure, pressuresOf } from './conditions.ts';
import { storageExcess } from './storage-limits.ts';
import { crossed, DEFAULT_THRESHOLDS, type Threshold } from './thresholds.ts';

const MI = 1024 * 1024;
const PLENTY = { available: 900, capacity: 1000 };
const observed = (parts: Partial<Observations> = {}): Observations => ({
  'memory.available': { available: 500 * MI, capacity: 1000 * MI },
  'nodefs.available': PLENTY,
  'nodefs.inodesFree': PLENTY,
  'imagefs.available': PLENTY,
  'imagefs.inodesFree': PLENTY,
  'pid.available': PLENTY,
  ...parts,
});
const signals = (parts: Partial<Observations>) =>
  crossed(DEFAULT_THRESHOLDS, observed(parts)).map(({ signal }) => signal);

test('the thresholds are those of kubelet', () => {
  expect(signals({})).toEqual([]);
  expect(signals({ 'memory.available': { available: 100 * MI, capacity: 1000 * MI } })).toEqual([]);
  expect(signals({ 'memory.available': { available: 100 * MI - 1, capacity: 1000 * MI } })).toEqual([
    'memory.available',
  ]);
  expect(signals({ 'nodefs.available': { available: 99, capacity: 1000 } })).toEqual(['nodefs.available']);
  expect(signals({ 'imagefs.available': { available: 149, capacity: 1000 } })).toEqual(['imagefs.available']);
  expect(signals({ 'nodefs.inodesFree': { available: 49, capacity: 1000 } })).toEqual(['nodefs.inodesFree']);
});

test('a file system without inodes is not short of them; memory comes first', () => {
  expect(signals({ 'nodefs.inodesFree': { available: 0, capacity: 0 } })).toEqual([]);
  const both = {
    'nodefs.available': { available: 1, capacity: 1000 },
    'memory.available': { available: 1, capacity: 9 },
  };
  expect(signals(both)).toEqual(['memory.available', 'nodefs.available']);
});

const statuses = (last: LastPressed, now: number) => pressuresOf(last, now).map(({ isPressed }) => isPressed);

test('a condition stays for five minutes after its cause is gone', () => {
  const disk: Threshold[] = [{ signal: 'imagefs.available', least: 1 }];
  const last = notePressure({}, disk, 1000);
  expect(statuses(last, 1000)).toEqual([false, true, false]);
  const later = notePressure(last, [], 200_000);
  expect(statuses(later, 300_999)).toEqual([false, true, false]);
  expect(statuses(later, 301_000)).toEqual([false, false, false]);
  expect(pressuresOf(last, 1000)[1]).toEqual({
    type: 'DiskPressure',
    isPressed: true,
    reason: 'KubeletHasDiskPressure',
    message: 'kubelet has disk pressure',
  });
});

const MEMORY = DEFAULT_THRESHOLDS[0]!;
const LOW = observed({ 'memory.available': { available: 50 * MI, capacity: 1000 * MI } });
function pod(name: string, spec: object = {}, requests?: object): SeenPod {
  const containers = [{ name: 'c', resources: requests ? { requests } : {} }];
  return { metadata: { name, uid: name }, spec: { containers, ...spec }, status: {} } as unknown as SeenPod;
}
const consumption = (memory: number, disk = 0): PodConsumption => ({
  memory,
  disk,
  processes: 1,
  containers: [{ name: 'c', memory, disk }],
});
const evicted = (pods: [SeenPod, PodConsumption | undefined][], threshold = MEMORY) => {
  const used = new Map(pods);
  return chooseEvicted([...used.keys()], (each) => used.get(each), threshold, LOW);
};

test('a pod above its request goes before one of lower priority, and of those the one that is most above', () => {
  const frugal = pod('frugal', { priority: -5 }, { memory: '500Mi' });
  const large = pod('large', {}, { memory: '300Mi' });
  const greedy = pod('greedy', {}, { memory: '10Mi' });
  const used: [SeenPod, PodConsumption][] = [
    [frugal, consumption(499 * MI)],
    [large, consumption(310 * MI)],
    [greedy, consumption(100 * MI)],
  ];
  expect(evicted(used)?.pod).toBe(greedy);
  expect(evicted([...used, [pod('low', { priority: -1 }), consumption(1)]])?.pod.metadata.name).toBe('low');
  expect(evicted([[frugal, consumption(499 * MI)]])?.pod).toBe(frugal);
});

test('critical pods and those that have ended stay', () => {
  const critical = pod('critical', { priority: 2_000_000_000 });
  const ended = { ...pod('ended'), status: { phase: 'Succeeded' } } as SeenPod;
  expect(
    evicted([
      [critical, consumption(1)],
      [ended, consumption(1)],
    ]),
  ).toBeUndefined();
});

test('the message has the words of kubelet', () => {
  const greedy = pod('greedy', {}, { memory: '10Mi' });
  expect(evicted([[greedy, consumption(100 * MI)]])).toEqual({
    pod: greedy,
    reason: 'Evicted',
    message:
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
      'Container c was using 100Mi, request is 10Mi, has larger consumption of memory. ',
  });
  const disk: Threshold = { signal: 'nodefs.available', least: { fraction: 0.95 } };
  expect(evicted([[pod('p'), consumption(0, 2 * MI)]], disk)?.message).toBe(
    'The node was low on resource: ephemeral-storage. Threshold quantity: 950, available: 900. ' +
      'Container c was using 2Mi, request is 0, has larger consumption of ephemeral-storage. ',
  );
});

test.each([
  ['nothing', {}, [['v', 5 * MI]], [['c', 5 * MI]], undefined],
  [
    'a volume',
    { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] },
    [['v', MI + 1]],
    [],
    'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
  ],
  ['a full volume', { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] }, [['v', MI]], [], undefined],
  [
    'a container',
    {
      containers: [
        { name: 'c', resources: { limits: { 'ephemeral-storage': '1Mi' } } },
        { name: 'd', resources: { limits: { 'ephemeral-storage': '9Mi' } } },
      ],
    },
    [],
    [['c', 2 * MI]],
    'Container c exceeded its local ephemeral storage limit "1Mi". ',
  ],
  [
    'a pod',
    {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '3Mi' } } }],
    },
    [['v', 2 * MI]],
    [['c', 2 * MI]],
    'Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ',
  ],
  [
    'memory',
    {
      volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }],
      containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '3Mi' } } }],
    },
    [['v', 2 * MI]],
    [['c', 2 * MI]],
    undefined,
  ],
])('storage limits: %s', (_, spec, volumes, containers, expected) => {
  const written = {
    ...{ volumes: new Map(volumes as [string, number][]), shared: 0 },
    containers: new Map(containers as [string, number][]),
  };
  expect(storageExcess(pod('p', spec), written)).toBe(expected);
});
