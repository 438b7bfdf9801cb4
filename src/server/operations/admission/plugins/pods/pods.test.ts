/** Tests of plugins that make small additions to pods, or reject them. */
import { describe, expect, it } from 'vitest';
import { admitting, podNamed, rejection } from '../../../../../../test/support/admission.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';

describe('Priority', () => {
  const classes = { apiVersion: 'scheduling.k8s.io/v1', namespace: '' };
  const of = (name: string, value: number, more: object = {}) => ({ metadata: { name }, value, ...more });

  it('comes from the class, the default class, or is zero', async () => {
    const server = await admitting([priority]);
    expect((await server.create('pods', podNamed('a'))).spec).toMatchObject({
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    await server.create('priorityclasses', of('usual', 5, { globalDefault: true, preemptionPolicy: 'Never' }), classes);
    expect((await server.create('pods', podNamed('b'))).spec).toMatchObject({
      priorityClassName: 'usual',
      priority: 5,
      preemptionPolicy: 'Never',
    });
    const node = (await server.create('pods', podNamed('c', { priorityClassName: 'system-node-critical' }))).spec;
    expect(node.priority).toBe(2_000_001_000);
  });

  it('cannot be chosen by clients', async () => {
    const server = await admitting([priority]);
    expect(await rejection(server.create('pods', podNamed('a', { priority: 7 })))).toBe(
      'pods "a" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
    expect(await rejection(server.create('pods', podNamed('a', { preemptionPolicy: 'Never' })))).toBe(
      'pods "a" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    );
    expect(await rejection(server.create('pods', podNamed('a', { priorityClassName: 'none' })))).toBe(
      'pods "a" is forbidden: no PriorityClass with name none was found',
    );
  });

  it('allows only one default class', async () => {
    const server = await admitting([priority]);
    await server.create('priorityclasses', of('a', 1, { globalDefault: true }), classes);
    expect(await rejection(server.create('priorityclasses', of('b', 2, { globalDefault: true }), classes))).toBe(
      'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. Only one default can exist',
    );
    await server.patch('priorityclasses', 'a', { description: 'x' }, classes);
  });

  it('is kept when a client sends a pod back without it', async () => {
    const server = await admitting([priority]);
    const pod = await server.create('pods', podNamed('a'));
    const { priority: _, preemptionPolicy: __, ...spec } = pod.spec;
    const updated = await server.update('pods', { ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } }, spec });
    expect(updated.spec.priority).toBe(0);
  });
});

describe('RuntimeClass', () => {
  const classes = { apiVersion: 'node.k8s.io/v1', namespace: '' };
  const sandboxed = {
    metadata: { name: 'sandboxed' },
    handler: 'gvisor',
    overhead: { podFixed: { cpu: '100m' } },
    scheduling: {
      nodeSelector: { sandbox: 'yes' },
      tolerations: [{ key: 'sandbox', operator: 'Exists', effect: 'NoSchedule' }],
    },
  };

  it('sets overhead, node selector and tolerations', async () => {
    const server = await admitting([runtimeClass]);
    await server.create('runtimeclasses', sandboxed, classes);
    const own = { runtimeClassName: 'sandboxed', nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] };
    const { spec } = await server.create('pods', podNamed('a', own));
    expect(spec).toMatchObject({ overhead: { cpu: '100m' }, nodeSelector: { a: 'b', sandbox: 'yes' } });
    // The pod tolerates everything already.
    expect(spec.tolerations).toEqual([{ operator: 'Exists' }]);
    const plain = await server.create('pods', podNamed('b', { runtimeClassName: 'sandboxed' }));
    expect(plain.spec.tolerations).toEqual(sandboxed.scheduling.tolerations);
  });

  it.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { runtimeClassName: 'sandboxed', overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [{ overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    [
      { runtimeClassName: 'sandboxed', nodeSelector: { sandbox: 'no' } },
      'conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no',
    ],
  ])('rejects %j', async (spec, message) => {
    const server = await admitting([runtimeClass]);
    await server.create('runtimeclasses', sandboxed, classes);
    expect(await rejection(server.create('pods', podNamed('a', spec)))).toBe(`pods "a" is forbidden: ${message}`);
  });
});

it('DefaultTolerationSeconds evicts pods from lost nodes after five minutes, unless they tolerate more', async () => {
  const server = await admitting([defaultTolerationSeconds]);
  const lost = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  const [notReady, unreachable] = [lost('node.kubernetes.io/not-ready'), lost('node.kubernetes.io/unreachable')];
  expect((await server.create('pods', podNamed('a'))).spec.tolerations).toEqual([notReady, unreachable]);
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
  const second = await server.create('pods', podNamed('b', { tolerations: [own] }));
  expect(second.spec.tolerations).toEqual([own, unreachable]);
  const all = { operator: 'Exists' };
  expect((await server.create('pods', podNamed('c', { tolerations: [all] }))).spec.tolerations).toEqual([all]);
});

it('ExtendedResourceToleration makes pods tolerate the taints of nodes with the resources they request', async () => {
  const server = await admitting([extendedResourceToleration]);
  const resources = { limits: { 'example.com/gpu': '1', cpu: '1' } };
  const pod = podNamed('a', {
    containers: [{ name: 'c', image: 'x', resources: { ...resources, requests: resources.limits } }],
  });
  expect((await server.create('pods', pod)).spec.tolerations).toEqual([
    { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ]);
});

it('AlwaysPullImages sets the pull policy Always', async () => {
  const server = await admitting([alwaysPullImages]);
  const { spec } = await server.create(
    'pods',
    podNamed('a', {
      initContainers: [{ name: 'i', image: 'x:1', imagePullPolicy: 'Never' }],
      volumes: [{ name: 'v', image: { reference: 'x:1', pullPolicy: 'IfNotPresent' } }],
    }),
  );
  expect(spec.containers[0].imagePullPolicy).toBe('Always');
  expect(spec.initContainers[0].imagePullPolicy).toBe('Always');
  expect(spec.volumes[0].image.pullPolicy).toBe('Always');
});
