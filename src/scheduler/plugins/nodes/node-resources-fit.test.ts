import { describe, expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../../test/support/scheduler/test-world.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';

const small = (allocatable: Record<string, string> = {}) => new TestWorld([nodeObject('a', { allocatable })]);

describe('the filter', () => {
  it.each([
    ['exactly what is left', { cpu: '3', memory: '7Gi' }, 'fits'],
    ['too much of one', { cpu: '3001m' }, 'Insufficient cpu'],
    ['too much of several', { cpu: '5', memory: '9Gi' }, 'Insufficient cpu, Insufficient memory'],
    ['storage that the node has not', { 'ephemeral-storage': '1Gi' }, 'Insufficient ephemeral-storage'],
    ['a device that the node has not', { 'example.com/gpu': '1' }, 'Insufficient example.com/gpu'],
    ['nothing', {}, 'fits'],
  ])('answers a pod that wants %s', (_, requests, verdict) => {
    const world = small();
    world.place('a', { requests: { cpu: '1', memory: '1Gi' } });
    const limits = { ...('example.com/gpu' in requests ? { limits: requests } : {}) };
    const containers = [{ name: 'main', image: 'b', resources: { requests, ...limits } }];
    expect(world.verdicts(nodeResourcesFit, podOf({ spec: { containers } }))).toEqual({ a: verdict });
  });

  it.each([
    [{ cpu: '16' }, ['requests 16 CPUs, 1.75 of 4 free']],
    [
      { cpu: '2', memory: '9000Mi' },
      ['requests 2 CPUs, 1.75 of 4 free', 'requests 8.789Gi of memory, 7Gi of 8Gi free'],
    ],
    [{ 'ephemeral-storage': '1536Ki' }, ['requests 1.5Mi of ephemeral-storage, 0 of 0 free']],
    [{ 'example.com/gpu': '2' }, ['requests 2 example.com/gpu, 0 of 0 free']],
    [{ memory: '1Mi', 'hugepages-2Mi': '4Mi' }, ['requests 4Mi of hugepages-2Mi, 0 of 0 free']],
  ])('explains in numbers what is missing for %o', (requests, details) => {
    const world = small({ cpu: '4', memory: '8Gi' });
    world.place('a', { requests: { cpu: '2250m', memory: '1Gi' } });
    const pod = podOf({
      spec: { containers: [{ name: 'main', image: 'b', resources: { requests, limits: requests } }] },
    });
    expect(nodeResourcesFit.explain!(pod, world.cluster.node('a')!, pod.requests)).toEqual(details);
  });

  it('counts pods', () => {
    const world = small({ pods: '1' });
    world.place('a', {});
    expect(world.verdicts(nodeResourcesFit, podOf())).toEqual({ a: 'Too many pods' });
    const details = nodeResourcesFit.explain!(podOf(), world.cluster.node('a')!, podOf().requests);
    expect(details).toEqual(['runs 1 pods of at most 1']);
  });

  it('tells whether eviction could help', () => {
    const world = small();
    world.place('a', { requests: { cpu: '3' } });
    const node = world.cluster.node('a')!;
    const rejection = (cpu: string) => {
      const pod = podOf({ requests: { cpu } });
      return nodeResourcesFit.filter!(pod, node, pod.requests);
    };
    expect(rejection('2')).toMatchObject({ isResolvable: true });
    expect(rejection('5')).toMatchObject({ isResolvable: false });
  });
});

const container = (name: string, cpu: string, rest: object = {}) => ({
  ...{ name, image: 'b', resources: { requests: { cpu } } },
  ...rest,
});
const sidecar = { restartPolicy: 'Always' };

it.each([
  ['its containers together', { containers: [container('a', '1'), container('b', '500m')] }, 1500],
  ['its largest init container', { containers: [container('a', '1')], initContainers: [container('i', '3')] }, 3000],
  [
    'init containers one at a time',
    {
      containers: [container('a', '1')],
      initContainers: [container('i', '2'), container('j', '2')],
    },
    2000,
  ],
  [
    'sidecars with the containers',
    {
      containers: [container('a', '1')],
      initContainers: [container('s', '2', sidecar)],
    },
    3000,
  ],
  [
    'sidecars with the init containers after them',
    {
      containers: [container('a', '1')],
      initContainers: [container('i', '4'), container('s', '2', sidecar), container('j', '3')],
    },
    5000,
  ],
  ['the overhead on top', { containers: [container('a', '1')], overhead: { cpu: '100m' } }, 1100],
  [
    'what is said for the whole pod instead',
    {
      containers: [container('a', '1')],
      resources: { requests: { cpu: '2' } },
      overhead: { cpu: '100m' },
    },
    2100,
  ],
])('what a pod needs is %s', (_, spec, cpu) => {
  expect(podOf({ spec }).requests.cpu).toBe(cpu);
});

it('what a pod needs is the larger amount while it is being resized', () => {
  const resources = { requests: { cpu: '3' } };
  const resizing = { containerStatuses: [{ name: 'main', resources, allocatedResources: { cpu: '3' } }] };
  const parts = { requests: { cpu: '1' }, spec: { nodeName: 'a' } };
  expect(podOf({ ...parts, requests: { cpu: '1' }, status: resizing }).requests.cpu).toBe(3000);
});

it('prefers emptier nodes, and assumes default requests', () => {
  const world = new TestWorld([
    nodeObject('empty', { allocatable: { cpu: '1', memory: '2000Mi' } }),
    nodeObject('half', { allocatable: { cpu: '1', memory: '2000Mi' } }),
  ]);
  world.place('half', { requests: { cpu: '500m', memory: '1000Mi' } });
  expect(world.scores(nodeResourcesFit, podOf())).toEqual({ empty: 90, half: 40 });
  expect(world.scores(nodeResourcesFit, podOf({ requests: { cpu: '500m', memory: '1000Mi' } }))).toEqual({
    empty: 50,
    half: 0,
  });
});

describe('a rejected pod is woken', () => {
  const world = small();
  const { Pod, Node } = nodeResourcesFit.hints!;
  const pod = podOf({ requests: { cpu: '2' } });
  const other = (cpu: string) => podObject({ name: 'x', requests: { cpu }, spec: { nodeName: 'a' } });
  const of = (cpu: string) => nodeObject('a', { allocatable: { cpu } });

  it('by pods that are deleted or shrink', () => {
    expect(Pod!({ resource: 'Pod', type: 'delete', object: other('1') }, pod, world)).toBe(true);
    expect(Pod!({ resource: 'Pod', type: 'add', object: other('1') }, pod, world)).toBe(false);
    expect(Pod!({ resource: 'Pod', type: 'update', object: other('1'), old: other('2') }, pod, world)).toBe(true);
    expect(Pod!({ resource: 'Pod', type: 'update', object: other('2'), old: other('2') }, pod, world)).toBe(false);
  });

  it('by nodes that have grown large enough', () => {
    expect(Node!({ resource: 'Node', type: 'add', object: of('1') }, pod, world)).toBe(false);
    expect(Node!({ resource: 'Node', type: 'add', object: of('2') }, pod, world)).toBe(true);
    expect(Node!({ resource: 'Node', type: 'update', object: of('4'), old: of('4') }, pod, world)).toBe(false);
    expect(Node!({ resource: 'Node', type: 'update', object: of('4'), old: of('3') }, pod, world)).toBe(true);
  });
});
