import { expect, test } from 'vitest';
import { create, update } from '../../../../../../test/support/kinds/test-object.ts';
import { clone } from '../../../../../base/json/tree.ts';
import type { SubresourceName } from '../../../../subresources.ts';
import { Pod } from '../pod.ts';

const container = {
  name: 'main',
  image: 'nginx:1',
  resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } },
};

function written(
  subresource: SubresourceName,
  change: (pod: any) => void,
  { spec = {}, metadata = {}, status = {} } = {},
) {
  const { object } = create(Pod, {
    metadata: { name: 'a', namespace: 'ns', ...metadata },
    spec: { containers: [container], ...spec },
  });
  const old: any = { ...object, status: { ...object.status, ...status } };
  const wanted: any = clone(old);
  change(wanted);
  return update(Pod, old, wanted, { subresource });
}

test('a container to look with can be added; everything else stays', () => {
  const { object, errors } = written('ephemeralcontainers', ({ spec }) => {
    spec.ephemeralContainers = [{ name: 'debug', image: 'busybox', targetContainerName: 'main' }];
    spec.nodeName = 'n';
    spec.containers[0].image = 'other';
  });
  expect(errors).toEqual([]);
  expect(object.spec.ephemeralContainers).toMatchObject([{ name: 'debug', imagePullPolicy: 'Always' }]);
  expect(object.spec.nodeName).toBeUndefined();
  expect(object.spec.containers[0]?.image).toBe('nginx:1');
});

test.each<[object, ...string[]]>([
  [{ name: 'main' }, 'name: Duplicate value: "main"'],
  [{ targetContainerName: 'none' }, 'targetContainerName: Not found: "none"'],
  [
    { ports: [{ containerPort: 1 }], resources: { limits: { cpu: '1' } }, livenessProbe: { tcpSocket: { port: 1 } } },
    'ports: Forbidden: cannot be set for an Ephemeral Container',
    'resources: Forbidden: cannot be set for an Ephemeral Container',
    'livenessProbe: Forbidden: cannot be set for an Ephemeral Container',
  ],
])('such a container is no part of the workload: %j', (fields, ...errors) => {
  const outcome = written('ephemeralcontainers', ({ spec }) => {
    spec.ephemeralContainers = [{ name: 'debug', image: 'busybox', ...fields }];
  });
  expect(outcome.errors).toEqual(errors.map((error) => `spec.ephemeralContainers[0].${error}`));
});

test('an ephemeral container stays as it is once it exists', () => {
  const { object: old } = written('ephemeralcontainers', ({ spec }) => {
    spec.ephemeralContainers = [{ name: 'debug', image: 'busybox' }];
  });
  const without: any = clone(old);
  delete without.spec.ephemeralContainers;
  const other: any = clone(old);
  other.spec.ephemeralContainers[0].image = 'nginx';
  const path = 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be';
  expect(update(Pod, old, without, { subresource: 'ephemeralcontainers' }).errors).toEqual([`${path} removed\n`]);
  expect(update(Pod, old, other, { subresource: 'ephemeralcontainers' }).errors[0]).toContain(`${path} changed\n@@`);
});

test('a resize changes cpu and memory, and nothing else', () => {
  const { object, errors } = written('resize', ({ spec }) => {
    spec.containers[0].resources.requests.cpu = '200m';
    spec.containers[0].image = 'other';
  });
  expect(errors).toEqual([]);
  expect(object.spec.containers[0]).toMatchObject({ image: 'nginx:1', resources: { requests: { cpu: '200m' } } });
});

test.each<[string, (pod: any) => void, object, ...string[]]>([
  [
    'a request is taken away',
    ({ spec }) => {
      delete spec.containers[0].resources.requests.cpu;
      delete spec.containers[0].resources.limits.cpu;
    },
    {},
    'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
    'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
  ],
  [
    'another resource changes',
    ({ spec }) => {
      spec.containers[0].resources.requests['ephemeral-storage'] = '1Gi';
    },
    {},
    'spec: Forbidden: only cpu and memory resources are mutable',
  ],
  [
    'the class would change',
    ({ spec }) => {
      spec.containers[0].resources.requests = { cpu: '1', memory: '2Gi' };
    },
    {},
    'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
  ],
  [
    'a container is added',
    ({ spec }) => {
      spec.containers.push({ name: 'b', image: 'x' });
    },
    {},
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ],
  [
    'the node knows of no resizing',
    ({ spec }) => {
      spec.containers[0].resources.requests.cpu = '200m';
    },
    { status: { containerStatuses: [{ name: 'main', state: { running: {} } }] } },
    'spec: Forbidden: Pod running on node without support for resize',
  ],
  [
    'the pod runs on windows',
    ({ spec }) => {
      spec.containers[0].resources.requests.cpu = '200m';
    },
    { spec: { os: { name: 'windows' } } },
    'windows pods cannot be resized',
  ],
])('no resize when %s', (_, change, start, ...errors) => {
  const found = written('resize', change, start).errors.map((error) => error.replace(/^Forbidden: /, ''));
  expect(found).toEqual(errors);
});
