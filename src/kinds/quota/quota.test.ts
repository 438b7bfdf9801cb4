import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../base/quantity.ts';
import { decode } from '../../schema/decode/decode.ts';
import { Pod } from '../groups/core/pod/pod.ts';
import { ResourceClaim } from '../groups/resource/resource-claim.ts';
import type { Kind } from '../kind.ts';
import { addTo, amountsOf, growth, listOf } from './amounts.ts';
import { evaluatorOf } from './objects.ts';
import { podUsage } from './pods.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');

const pod = (spec: object, status: object = {}, metadata: object = {}): Pod => {
  const tree = { metadata: { name: 'p', ...metadata }, spec: { containers: [], ...spec }, status };
  return decode(Pod.hub.schema, tree) as Pod;
};

const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: 'c',
  image: 'x',
  resources: { requests, limits },
  ...more,
});

const used = (subject: Pod, now = NOW) => listOf(podUsage.usage(subject, now));

describe('what a pod uses', () => {
  it('is what its containers ask for, under all names that a quota knows', () => {
    const requests = { cpu: '1', memory: '1Gi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' };
    expect(used(pod({ containers: [container(requests, { cpu: '2' })] }))).toEqual({
      ...{ 'count/pods': '1', pods: '1' },
      ...{ cpu: '1', 'requests.cpu': '1', 'limits.cpu': '2', memory: '1Gi', 'requests.memory': '1Gi' },
      ...{ 'requests.example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi' },
    });
  });

  it('is at least what the largest init container needs beside the sidecars', () => {
    const spec = {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '500m' }, {}, { restartPolicy: 'Always' }), container({ cpu: '3' })],
    };
    expect(used(pod(spec))['requests.cpu']).toBe('3500m');
  });

  it('is what the pod says as a whole, and what running it costs', () => {
    const spec = {
      containers: [container({ cpu: '1', memory: '1Gi' }, { memory: '1Gi' })],
      resources: { requests: { cpu: '4' } },
      overhead: { cpu: '250m', memory: '1Mi' },
    };
    expect(used(pod(spec))).toMatchObject({ 'requests.cpu': '4250m', 'requests.memory': '1025Mi' });
    expect(used(pod(spec))['limits.cpu']).toBeUndefined();
    expect(used(pod(spec))['limits.memory']).toBe('1025Mi');
  });

  it('is the larger amount while it is being resized', () => {
    const spec = { containers: [container({ cpu: '1' })] };
    const resources = { requests: { cpu: '2' } };
    const containerStatuses = [{ name: 'c', image: 'x', imageID: '', ready: true, restartCount: 0, resources }];
    expect(used(pod(spec, { containerStatuses }))['requests.cpu']).toBe('2');
  });

  it.each([
    ['has ended', { phase: 'Succeeded' }, {}],
    ['has failed', { phase: 'Failed' }, {}],
    ['should be gone', {}, { deletionTimestamp: '2029-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 }],
  ])('is only itself when it %s', (_, status, metadata) => {
    expect(used(pod({ containers: [container({ cpu: '1' })] }, status, metadata))).toEqual({ 'count/pods': '1' });
  });

  it('counts while its grace lasts', () => {
    const metadata = { deletionTimestamp: '2029-12-31T23:59:50Z', deletionGracePeriodSeconds: 30 };
    expect(used(pod({ containers: [container({ cpu: '1' })] }, {}, metadata)).pods).toBe('1');
  });
});

describe('what a resource claim uses', () => {
  const used = (...requests: object[]) => {
    const usage = evaluatorOf(ResourceClaim as Kind)!.usage({ spec: { devices: { requests } } }, 0);
    return Object.fromEntries([...usage].map(([name, amount]) => [name, formatQuantity(amount)]));
  };
  const of = (deviceClassName: string, count?: number) => ({
    ...{ deviceClassName, allocationMode: count === undefined ? 'All' : 'ExactCount', count },
  });
  const COUNT = 'count/resourceclaims.resource.k8s.io';
  const gpus = 'gpu.deviceclass.resource.k8s.io/devices';
  const disks = 'disk.deviceclass.resource.k8s.io/devices';

  it('is itself, and its devices by class', () => {
    expect(used()).toEqual({ [COUNT]: '1' });
    const requests = [of('gpu', 2), of('gpu', 1), of('disk', 4)].map((exactly, i) => ({ name: `r${i}`, exactly }));
    expect(used(...requests)).toEqual({ [COUNT]: '1', [gpus]: '3', [disks]: '4' });
  });

  it('is as many devices as can be allocated where it asks for all', () => {
    expect(used({ name: 'r', exactly: of('gpu') })).toEqual({ [COUNT]: '1', [gpus]: '32' });
  });

  it('is the most of its alternatives for each class', () => {
    const firstAvailable = [of('gpu', 2), of('gpu', 5), of('disk', 1)];
    expect(used({ name: 'r', firstAvailable }, { name: 's', exactly: of('gpu', 1) })).toEqual({
      ...{ [COUNT]: '1', [gpus]: '6', [disks]: '1' },
    });
  });

  it('is what a quota can name', () => {
    const { counts } = evaluatorOf(ResourceClaim as Kind)!;
    expect([COUNT, gpus, 'devices', 'count/pods'].map(counts)).toEqual([true, true, false, false]);
  });
});

describe('sums', () => {
  const name = fc.constantFrom('cpu', 'memory', 'pods', 'requests.cpu');
  const amount = fc
    .tuple(fc.integer({ min: 0, max: 1e9 }), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'Gi'))
    .map(([number, suffix]) => formatQuantity(parseQuantity(`${number}${suffix}`)));
  const list = fc.dictionary(name, amount);

  it('do not depend on the order', () => {
    forAll(fc.array(list), (lists) => {
      const sum = (all: readonly Record<string, string>[]) =>
        all.reduce((total, each) => addTo(total, amountsOf(each)), amountsOf());
      const [one, other] = [sum(lists), sum(lists.toReversed())];
      expect([...one.keys()].sort()).toEqual([...other.keys()].sort());
      for (const [key, value] of one) expect(compareQuantities(value, other.get(key)!)).toBe(0);
    });
  });

  it('grow by exactly what is new', () => {
    forAll(list, list, (before, added) => {
      const old = amountsOf(before);
      const now = addTo(new Map(old), amountsOf(added));
      const grown = growth(now, old);
      for (const [key, value] of now) {
        const back = addQuantities(old.get(key) ?? parseQuantity('0'), grown.get(key) ?? parseQuantity('0'));
        expect(compareQuantities(back, value)).toBe(0);
      }
      expect(growth(old, now).size).toBe(0);
    });
  });

  it('survive being written down', () => {
    forAll(list, (given) => {
      expect(listOf(amountsOf(listOf(amountsOf(given))))).toEqual(listOf(amountsOf(given)));
    });
  });
});
