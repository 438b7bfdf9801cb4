import { describe, expect, it } from 'vitest';
import { seenContainer, seenPod } from '../../../test/support/node/seen-pod.ts';
import {
  containerResources,
  oomScoreAdjustment,
  overheadResources,
  podCgroupResources,
  sandboxResources,
} from './resources.ts';

const GI = 1024 ** 3;
const machine = { memoryBytes: 10 * GI, cgroupVersion: 1, hugePageSizes: [] } as const;

const resourcesOf = (resources: object, spec: object = {}) => {
  const container = seenContainer({ resources });
  return containerResources(seenPod({ containers: [container], ...spec }), container, machine);
};

describe('the resources of a container', () => {
  it.each([
    ['nothing', {}, { cpuShares: 2, cpuQuota: undefined, cpuPeriod: undefined, memoryBytes: undefined }],
    [
      'a request',
      { requests: { cpu: '250m', memory: '1Gi' } },
      { cpuShares: 256, cpuQuota: undefined, memoryBytes: undefined },
    ],
    ['a limit alone', { limits: { cpu: '500m' } }, { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000 }],
    ['a request of nothing', { requests: { cpu: '0' }, limits: { cpu: '1' } }, { cpuShares: 2, cpuQuota: 100_000 }],
    ['a tiny limit', { limits: { cpu: '1m' } }, { cpuShares: 2, cpuQuota: 1000, cpuPeriod: 100_000 }],
    ['a huge request', { requests: { cpu: '1000' } }, { cpuShares: 262_144 }],
    ['memory', { limits: { memory: '64Mi' } }, { memoryBytes: 64 * 1024 * 1024 }],
    ['less than a byte', { limits: { memory: '500m' } }, { memoryBytes: 1 }],
  ])('with %s', (_what, resources, expected) => {
    expect(resourcesOf(resources)).toMatchObject(expected);
  });

  it('are limited by those of the pod', () => {
    const spec = { resources: { limits: { cpu: '2', memory: '1Gi' } } };
    expect(resourcesOf({}, spec)).toMatchObject({ cpuShares: 2048, cpuQuota: 200_000, memoryBytes: GI });
    expect(resourcesOf({ limits: { cpu: '1' } }, spec)).toMatchObject({ cpuQuota: 100_000, memoryBytes: GI });
  });

  it('allow only the huge pages that have a limit', () => {
    const container = seenContainer({ resources: { limits: { 'hugepages-2Mi': '4Mi' } } });
    const sizes = { ...machine, hugePageSizes: ['2MB', '1GB'] };
    expect(containerResources(seenPod(), container, sizes).hugepages).toEqual([
      { pageSize: '2MB', bytes: 4 * 1024 * 1024 },
      { pageSize: '1GB', bytes: 0 },
    ]);
  });

  it('kill a container as a whole with cgroup v2', () => {
    expect(resourcesOf({}).unified).toBeUndefined();
    const v2 = { ...machine, cgroupVersion: 2 } as const;
    expect(containerResources(seenPod(), seenContainer(), v2).unified).toEqual({ 'memory.oom.group': '1' });
  });
});

describe('the adjustment of the OOM score', () => {
  const score = (containers: object[], spec: object = {}, index = 0) => {
    const made = containers.map((resources, at) => seenContainer({ name: `c${at}`, resources }));
    return oomScoreAdjustment(seenPod({ containers: made, ...spec }), made[index]!, machine.memoryBytes);
  };
  const guaranteed = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };

  it('depends on the QoS class', () => {
    expect(score([guaranteed])).toBe(-997);
    expect(score([{}])).toBe(1000);
    expect(score([{ requests: { memory: '1Gi' } }])).toBe(900);
  });

  it('stays between the other classes for burstable pods', () => {
    expect(score([{ requests: { memory: '10Gi' } }])).toBe(3);
    expect(score([{ requests: { memory: '1' } }])).toBe(999);
    expect(score([{ requests: { memory: '1Gi' } }, {}], {}, 1)).toBe(999);
  });

  it('protects pods that the node depends on', () => {
    expect(score([{}], { priority: 2_000_001_000 })).toBe(-997);
  });

  it('divides what the pod requests beyond its containers', () => {
    expect(score([{ requests: { memory: '1Gi' } }, {}], { resources: { requests: { memory: '3Gi' } } })).toBe(800);
  });

  it('lets no sidecar go before the containers', () => {
    const sidecar = seenContainer({ name: 's', restartPolicy: 'Always' });
    const main = seenContainer({ resources: { requests: { memory: '2Gi' } } });
    const pod = seenPod({ containers: [main], initContainers: [sidecar] });
    expect(oomScoreAdjustment(pod, sidecar, machine.memoryBytes)).toBe(800);
  });
});

describe('the resources of a sandbox', () => {
  it('are the sum of its containers, or those of the pod', () => {
    const one = seenContainer({ resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Gi' } } });
    const spec = { containers: [one, { ...one, name: 'd' }] };
    expect(sandboxResources(seenPod(spec))).toMatchObject({ cpuShares: 1024, cpuQuota: 200_000, memoryBytes: 2 * GI });
    const resources = { requests: { cpu: '3' }, limits: { cpu: '4', memory: '4Gi' } };
    expect(sandboxResources(seenPod({ ...spec, resources }))).toMatchObject({
      cpuShares: 3072,
      cpuQuota: 400_000,
      memoryBytes: 4 * GI,
    });
  });

  it('limit the pod as a whole to what its containers may use together, where each of them has a limit', () => {
    const one = seenContainer({ resources: { limits: { cpu: '1', memory: '1Gi' } } });
    const init = seenContainer({ name: 'i', resources: { limits: { cpu: '3', memory: '512Mi' } } });
    const spec = { containers: [one, { ...one, name: 'd' }], initContainers: [init] };
    expect(podCgroupResources(seenPod(spec), undefined)).toMatchObject({ cpuQuota: 300_000, memoryBytes: 2 * GI });
    const open = { ...spec, initContainers: [seenContainer({ name: 'i', resources: { limits: { cpu: '1' } } })] };
    const unlimited = podCgroupResources(seenPod(open), undefined);
    expect(unlimited).toMatchObject({ cpuQuota: 200_000, memoryBytes: undefined });
  });

  it('limit the pod as a whole only where it has limits of its own', () => {
    const one = seenContainer({ resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Gi' } } });
    const spec = { containers: [one, seenContainer({ name: 'd', resources: {} })] };
    const ofContainers = podCgroupResources(seenPod(spec), undefined);
    expect(ofContainers).toMatchObject({ cpuShares: 512, cpuQuota: undefined, memoryBytes: undefined });
    const resources = { requests: { cpu: '3' }, limits: { cpu: '4', memory: '4Gi' } };
    const ofPod = podCgroupResources(seenPod({ ...spec, resources }), undefined);
    expect(ofPod).toMatchObject({ cpuShares: 3072, cpuQuota: 400_000, memoryBytes: 4 * GI });
  });

  it('have the overhead of the RuntimeClass beside them', () => {
    expect(overheadResources(seenPod())).toBeUndefined();
    expect(overheadResources(seenPod({ overhead: { cpu: '250m', memory: '120Mi' } }))).toMatchObject({
      cpuShares: 256,
      cpuQuota: 25_000,
      memoryBytes: 120 * 1024 * 1024,
    });
  });
});
