import { beforeEach, describe, expect, it } from 'vitest';
import { admitting, podNamed, rejection } from '../../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../../test/support/server.ts';
import { limitRanger } from './limit-ranger.ts';

let server: TestServer;
beforeEach(async () => {
  server = await admitting([limitRanger]);
});

const limit = (...limits: object[]) =>
  server.create('limitranges', { metadata: { name: `l${limits.length}` }, spec: { limits } });

const containers = (...resources: object[]) => ({
  containers: resources.map((each, index) => ({ name: `c${index}`, image: 'x', resources: each })),
});

it('defaults are applied to containers without requests and limits, and listed in an annotation', async () => {
  await limit({ type: 'Container', default: { cpu: '500m', memory: '1Gi' }, defaultRequest: { cpu: '100m' } });
  const pod = await server.create(
    'pods',
    podNamed('a', { ...containers({}, { limits: { cpu: '2' } }), initContainers: [{ name: 'i', image: 'x' }] }),
  );
  expect(pod.spec.containers.map(({ resources }: any) => resources)).toEqual([
    { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } },
    // The container's own limit becomes its request.
    { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '2', memory: '1Gi' } },
  ]);
  expect(pod.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
    'LimitRanger plugin set: cpu, memory request for container c0; cpu, memory limit for container c0; ' +
      'memory request for container c1; memory limit for container c1; ' +
      'cpu, memory request for init container i; cpu, memory limit for init container i',
  );
  expect(pod.status.qosClass).toBe('Burstable');
});

it('defaults do not change containers that set all values', async () => {
  await limit({ type: 'Container', default: { cpu: '1' } });
  const pod = await server.create('pods', podNamed('a', containers({ limits: { cpu: '1' }, requests: { cpu: '1' } })));
  expect(pod.metadata.annotations).toBeUndefined();
});

describe('limits', () => {
  const asks = (requests: object, limits: object) => containers({ requests, limits });

  it.each<[string, object, object, string]>([
    [
      'too small',
      { type: 'Container', min: { cpu: '100m' } },
      asks({ cpu: '50m' }, {}),
      'minimum cpu usage per Container is 100m, but request is 50m',
    ],
    [
      'too large',
      { type: 'Container', max: { memory: '1Gi' } },
      asks({ memory: '1Gi' }, { memory: '2Gi' }),
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      'not limited',
      { type: 'Pod', max: { cpu: '1' } },
      containers({ requests: { cpu: '500m' } }),
      'maximum cpu usage per Pod is 1.  No limit is specified',
    ],
    [
      'too large together',
      { type: 'Pod', max: { cpu: '1' } },
      containers({ limits: { cpu: '600m' } }, { limits: { cpu: '600m' } }),
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    ],
    [
      'too far from its request',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      asks({ cpu: '100m' }, { cpu: '250m' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000',
    ],
    [
      'without a request to compare with',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      asks({ cpu: '0' }, { cpu: '1' }),
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
  ])('reject a pod that is %s', async (_, range, spec, message) => {
    await limit(range);
    expect(await rejection(server.create('pods', podNamed('a', spec as never)))).toBe(
      `pods "a" is forbidden: ${message}`,
    );
  });

  it('report all faults at once', async () => {
    await limit({ type: 'Pod', max: { cpu: '1', memory: '1Gi' } });
    const spec = containers({ limits: { cpu: '2', memory: '2Gi' } });
    expect(await rejection(server.create('pods', podNamed('a', spec)))).toBe(
      'pods "a" is forbidden: [maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]',
    );
  });

  it('apply to claims', async () => {
    await limit({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } });
    const claim = (storage: string) => ({
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
    expect(await rejection(server.create('persistentvolumeclaims', claim('10Gi')))).toContain(
      'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi',
    );
    expect(await rejection(server.create('persistentvolumeclaims', claim('10Mi')))).toContain(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 10Mi',
    );
    await server.create('persistentvolumeclaims', claim('2Gi'));
  });

  it('apply in their own namespace only', async () => {
    await server.create('namespaces', { metadata: { name: 'other' } }, { namespace: '' });
    await limit({ type: 'Pod', max: { cpu: '1' } });
    expect(await rejection(server.create('pods', podNamed('a')))).toContain('maximum cpu usage per Pod is 1');
    const pod = await server.create('pods', podNamed('a'), { namespace: 'other' });
    expect(pod.metadata.namespace).toBe('other');
  });
});
