import { expect, test } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import { clone } from '../../../../base/json/tree.ts';
import { decode } from '../../../../schema/decode/decode.ts';
import { Pod } from './pod.ts';

const main = { name: 'main', image: 'busybox:1.36', command: ['sleep', '3600'] };
const pod = (spec: object, metadata: object = {}) => ({
  metadata: { name: 'a', namespace: 'ns', ...metadata },
  spec: { containers: [main], ...spec },
});
const write = (spec: object, metadata?: object): { object: any; errors: readonly string[] } =>
  create(Pod, pod(spec, metadata));
const created = (spec: object, metadata?: object) => write(spec, metadata).object;
const withContainer = (container: object) => created({ containers: [{ ...main, ...container }] }).spec.containers[0];

test('a small pod gets what Kubernetes gives it', () => {
  const { object, errors } = write({});
  expect(errors).toEqual([]);
  expect(object.spec).toEqual({
    containers: [
      {
        ...main,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
  });
  expect(object.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
});

test.each([
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['registry.example.com:5000/team/app', 'Always'],
  ['nginx:1.2', 'IfNotPresent'],
  ['registry.example.com:5000/team/app:v1', 'IfNotPresent'],
  [`nginx@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ['Not A Name', 'IfNotPresent'],
])('the image %s is pulled %s', (image, policy) => {
  expect(withContainer({ image }).imagePullPolicy).toBe(policy);
});

test('a pull policy that was given stays', () => {
  expect(withContainer({ image: 'nginx', imagePullPolicy: 'Never' }).imagePullPolicy).toBe('Never');
});

test('probes get their numbers, and 0 asks for them', () => {
  const { livenessProbe, readinessProbe } = withContainer({
    ports: [{ name: 'http', containerPort: 80 }],
    livenessProbe: { httpGet: { port: 80 }, timeoutSeconds: 0, initialDelaySeconds: 0 },
    readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 3 },
  });
  expect(livenessProbe).toEqual({
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  expect(readinessProbe).toMatchObject({ tcpSocket: { port: 'http' }, periodSeconds: 3, failureThreshold: 3 });
});

test('volumes get their modes and types, and a volume without a source is an empty directory', () => {
  const sources = {
    nothing: {},
    empty: { emptyDir: {} },
    host: { hostPath: { path: '/x' } },
    config: { configMap: { name: 'c' } },
    secret: { secret: { secretName: 's', defaultMode: 0o400 } },
    down: { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    projected: { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    image: { image: { reference: 'data' } },
  };
  const volumes = Object.entries(sources).map(([name, source]) => ({ name, ...source }));
  const { object, errors } = write({ volumes, serviceAccountName: 'x' });
  expect(errors).toEqual([]);
  expect(Object.fromEntries(object.spec.volumes.map(({ name, ...source }: any) => [name, source]))).toEqual({
    nothing: { emptyDir: {} },
    empty: { emptyDir: {} },
    host: { hostPath: { path: '/x', type: '' } },
    config: { configMap: { name: 'c', defaultMode: 420 } },
    secret: { secret: { secretName: 's', defaultMode: 256 } },
    down: {
      downwardAPI: {
        items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }],
        defaultMode: 420,
      },
    },
    projected: {
      projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 },
    },
    image: { image: { reference: 'data', pullPolicy: 'Always' } },
  });
});

test('resources are counted in thousandths, and rounded up', () => {
  const { spec } = created({ containers: [{ ...main, resources: { limits: { cpu: '0.0001' } } }] });
  expect(spec.containers[0].resources).toEqual({ limits: { cpu: '1m' }, requests: { cpu: '1m' } });
});

test('requests default to limits', () => {
  const container = (resources: object) => ({ ...main, resources });
  const { spec, status } = created({ containers: [container({ limits: { cpu: '500m', memory: '1Gi' } })] });
  expect(spec.containers[0].resources.requests).toEqual({ cpu: '500m', memory: '1Gi' });
  expect(status.qosClass).toBe('Guaranteed');
});

test.each([
  ['BestEffort', [{}]],
  ['BestEffort', [{ requests: { 'ephemeral-storage': '1Gi' } }]],
  ['Burstable', [{ requests: { cpu: '1' } }]],
  ['Burstable', [{ limits: { cpu: '1', memory: '1Gi' } }, {}]],
  ['Burstable', [{ requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Gi' } }]],
  ['Guaranteed', [{ requests: { cpu: '1000m' }, limits: { cpu: '1', memory: '1Gi' } }]],
])('the class %s follows from what the containers ask for', (qosClass, resources) => {
  const containers = resources.map((each, index) => ({ ...main, name: `c${index}`, resources: each }));
  expect(created({ containers }).status.qosClass).toBe(qosClass);
});

test('ports of containers on the network of the node are ports of the node', () => {
  const { spec } = created({
    hostNetwork: true,
    hostPID: false,
    containers: [{ ...main, ports: [{ containerPort: 80 }] }],
  });
  expect(spec.containers[0].ports).toEqual([{ containerPort: 80, protocol: 'TCP', hostPort: 80 }]);
  expect(spec).not.toHaveProperty('hostPID');
});

test.each([
  [{ serviceAccount: 'a' }, 'a'],
  [{ serviceAccountName: 'a' }, 'a'],
  [{ serviceAccountName: 'a', serviceAccount: 'b' }, 'a'],
  [{ serviceAccountName: '', serviceAccount: 'b' }, 'b'],
])('the two names of the service account are one: %j', (spec, name) => {
  expect(created(spec).spec).toMatchObject({ serviceAccountName: name, serviceAccount: name });
});

test('an empty service account is dropped', () => {
  expect(created({ serviceAccount: '' }).spec).not.toHaveProperty('serviceAccount');
});

test('values that Kubernetes does not tell from absent ones are dropped', () => {
  const container = withContainer({
    tty: false,
    stdin: false,
    workingDir: '',
    env: [{ name: 'A', value: '' }],
    ports: [],
    volumeMounts: [],
    securityContext: { runAsNonRoot: false },
  });
  expect(container).toMatchObject({ env: [{ name: 'A' }], securityContext: { runAsNonRoot: false } });
  for (const field of ['tty', 'stdin', 'workingDir', 'ports', 'volumeMounts'])
    expect(container).not.toHaveProperty(field);
});

test('defaults are the same when they run again', () => {
  const { object } = write({
    hostNetwork: true,
    serviceAccount: 'a',
    volumes: [{ name: 'v' }],
    resources: { limits: { cpu: '2' } },
    containers: [
      {
        ...main,
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: '1' } },
        livenessProbe: { grpc: { port: 1 } },
      },
    ],
    initContainers: [{ name: 'i', image: 'x' }],
  });
  const again: any = decode(Pod.hub.schema, clone(object));
  Pod.onUpdate?.(again, object, { now: '', uuid: () => '', apiVersion: 'v1', subresource: undefined });
  expect(again).toEqual(object);
});

test("the pod's own resources are filled from those of its containers", () => {
  const { spec } = created({
    resources: { limits: { cpu: '2', memory: '1Gi' } },
    containers: [{ ...main, resources: { requests: { cpu: '300m' } } }],
    initContainers: [
      { name: 'sidecar', image: 'x', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
      { name: 'init', image: 'x', resources: { requests: { cpu: '600m' } } },
    ],
  });
  expect(spec.resources.requests).toEqual({ cpu: '700m', memory: '1Gi' });
});

test('keys of labels become part of the selectors beside them', () => {
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'a' } }, matchLabelKeys: ['hash', 'none'] };
  const { object, errors } = write(
    {
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      topologySpreadConstraints: [{ ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    },
    { labels: { hash: '1' } },
  );
  const expressions = [{ key: 'hash', operator: 'In', values: ['1'] }];
  expect(errors).toEqual([]);
  expect(
    object.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions,
  ).toEqual(expressions);
  expect(object.spec.topologySpreadConstraints[0].labelSelector.matchExpressions).toEqual(expressions);
});

test('a pod with scheduling gates says that it waits', () => {
  expect(created({ schedulingGates: [{ name: 'example.com/g' }] }).status.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', lastTransitionTime: expect.any(String) },
  ]);
});

test.each([
  [undefined, {}, {}, 0],
  [25, {}, {}, 0],
  [undefined, { nodeName: 'n' }, {}, 30],
  [undefined, { nodeName: 'n', terminationGracePeriodSeconds: 5 }, {}, 5],
  [25, { nodeName: 'n' }, {}, 25],
  [0, { nodeName: 'n' }, {}, 0],
  [25, { nodeName: 'n' }, { phase: 'Succeeded' }, 0],
  [undefined, { nodeName: 'n' }, { phase: 'Failed' }, 0],
])('asked for %s seconds, a pod of %j in %j gets %i', (asked, spec, status, grace) => {
  const object = created(spec);
  expect(Pod.gracePeriod?.({ ...object, status: { ...object.status, ...status } }, asked)).toBe(grace);
});

test('field selectors see text, also of what is absent', () => {
  const object = { ...created({ nodeName: 'n', hostNetwork: true }), status: { podIPs: [{ ip: '10.0.0.1' }] } };
  const values = Object.entries(Pod.selectable ?? {}).map(([field, value]) => [field, value(object)]);
  expect(Object.fromEntries(values)).toEqual({
    'spec.nodeName': 'n',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'true',
    'status.phase': '',
    'status.podIP': '10.0.0.1',
    'status.podIPs': '10.0.0.1',
    'status.nominatedNodeName': '',
  });
});
