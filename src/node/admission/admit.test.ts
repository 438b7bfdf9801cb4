import { expect, test } from 'vitest';
import type { SeenPod } from '../pod/container-run.ts';
import { admission } from './admit.ts';
import type { Rejection, SeenNode } from './rejection.ts';

const NODE = {
  metadata: { name: 'n1', labels: { zone: 'a' } },
  spec: {},
  status: {
    allocatable: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '3', 'example.com/gpu': '1' },
    nodeInfo: { kernelVersion: '4.14.0-generic' },
  },
} as unknown as SeenNode;

let count = 0;
interface Parts {
  readonly spec?: object;
  readonly metadata?: object;
  readonly status?: object;
  readonly requests?: object;
  readonly limits?: object;
  readonly ports?: object[];
}
function pod({ spec, metadata, status, requests, limits, ports }: Parts = {}): SeenPod {
  const resources = { ...(requests && { requests }), ...(limits && { limits }) };
  return {
    metadata: { name: `p${++count}`, uid: `u${count}`, ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'c', resources, ...(ports && { ports }) }], ...spec },
    status: { ...status },
  } as unknown as SeenPod;
}
const node = (parts: { spec?: object; status?: object }) =>
  ({ ...NODE, spec: { ...NODE.spec, ...parts.spec }, status: { ...NODE.status, ...parts.status } }) as SeenNode;
const port = (hostPort: number, more: object = {}) => ({ containerPort: 1, hostPort, protocol: 'TCP', ...more });

/** Undefined: the pod is admitted. */
function admit(...args: Parameters<typeof admission>): Rejection | undefined {
  const { type, ...rejection } = admission(...args);
  expect(type).not.toBe('preempting');
  return type === 'rejected' ? (rejection as Rejection) : undefined;
}

test('a pod that fits is admitted', () => {
  expect(admit(pod({ requests: { cpu: '2', memory: '1Gi', 'example.com/gpu': '1' } }), NODE, [])).toBeUndefined();
});

test.each([
  [{ cpu: '1500m' }, 'OutOfcpu', 'cpu, requested: 1500, used: 1000, capacity: 2000'],
  [
    { memory: '600Mi' },
    'OutOfmemory',
    `memory, requested: ${600 * 2 ** 20}, used: ${512 * 2 ** 20}, capacity: ${2 ** 30}`,
  ],
  [
    { 'ephemeral-storage': '11Gi' },
    'OutOfephemeral-storage',
    `ephemeral-storage, requested: ${11 * 2 ** 30}, used: 0, capacity: ${10 * 2 ** 30}`,
  ],
  [{ 'example.com/gpu': '2' }, 'OutOfexample.com/gpu', 'example.com/gpu, requested: 2, used: 0, capacity: 1'],
  [{ cpu: '3', memory: '3Gi' }, 'OutOfcpu', 'cpu, requested: 3000, used: 1000, capacity: 2000'],
])('%j beside a pod of 1 cpu and 512Mi is %s', (requests, reason, what) => {
  const others = [pod({ requests: { cpu: '1', memory: '512Mi' } })];
  expect(admit(pod({ requests }), NODE, others)).toEqual({
    reason,
    message: `Node didn't have enough resource: ${what}`,
  });
});

test('a node has room for so many pods', () => {
  const others = [pod(), pod(), pod()];
  expect(admit(pod(), NODE, others)).toEqual({
    reason: 'OutOfpods',
    message: "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  });
});

test('pods that have ended, and the pod itself, do not count', () => {
  const own = pod({ requests: { cpu: '2' } });
  const ended = ['Failed', 'Succeeded'].map((phase) => pod({ requests: { cpu: '2' }, status: { phase } }));
  expect(admit(own, NODE, [own, ...ended, pod()])).toBeUndefined();
});

test('init containers, overhead and pod-level requests count', () => {
  const init = { initContainers: [{ name: 'i', resources: { requests: { cpu: '3' } } }] };
  expect(admit(pod({ spec: init }), NODE, [])?.reason).toBe('OutOfcpu');
  expect(admit(pod({ requests: { cpu: '2' }, spec: { overhead: { cpu: '1m' } } }), NODE, [])?.reason).toBe('OutOfcpu');
  expect(admit(pod({ spec: { resources: { requests: { cpu: '3' } } } }), NODE, [])?.reason).toBe('OutOfcpu');
});

test('an extended resource that the node does not have belongs to the cluster', () => {
  expect(admit(pod({ requests: { 'example.com/license': '1' } }), NODE, [])).toBeUndefined();
});

test.each([
  ['the selector', { nodeSelector: { zone: 'b' } }],
  [
    'the affinity',
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }],
          },
        },
      },
    },
  ],
])('%s of the pod has to match', (_, spec) => {
  expect(admit(pod({ spec }), NODE, [])).toEqual({
    reason: 'NodeAffinity',
    message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  });
});

test('the name of the node has to match', () => {
  expect(admit(pod({ spec: { nodeName: 'n2' } }), NODE, [])).toEqual({
    reason: 'NodeName',
    message: "Predicate NodeName failed: node(s) didn't match the requested node name",
  });
});

const NODE_PORTS = {
  reason: 'NodePorts',
  message:
    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports: pod default/web has TCP/80",
};
test.each([
  ['the same port', port(80), port(80), NODE_PORTS],
  ['another port', port(80), port(81), undefined],
  ['another protocol', port(80), port(80, { protocol: 'UDP' }), undefined],
  ['another address', port(80, { hostIP: '127.0.0.1' }), port(80, { hostIP: '127.0.0.2' }), undefined],
  ['any address against one', port(80), port(80, { hostIP: '127.0.0.2' }), NODE_PORTS],
  ['one address against any', port(80, { hostIP: '127.0.0.2' }), port(80), NODE_PORTS],
])('host ports: %s', (_, own, taken, expected) => {
  const web = pod({ metadata: { namespace: 'default', name: 'web' }, ports: [taken] });
  expect(admit(pod({ ports: [own] }), NODE, [web])).toEqual(expected);
});

const SHARED = { ...NODE, metadata: { ...NODE.metadata, annotations: { 'node.kubernetes.io/pod-network': 'node' } } };
test.each([
  ['two declare', { containerPort: 80 }, { containerPort: 80 }, NODE_PORTS],
  ['one declares, and another has as its host port', { containerPort: 80 }, port(80), NODE_PORTS],
  ['of other protocols', { containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }, undefined],
  ['of other numbers', { containerPort: 80 }, { containerPort: 81 }, undefined],
])('on a node whose pods share its network, ports that %s', (_, own, taken, expected) => {
  const web = pod({ metadata: { namespace: 'default', name: 'web' }, ports: [taken] });
  expect(admit(pod({ ports: [own] }), SHARED as SeenNode, [web])).toEqual(expected);
  expect(admit(pod({ ports: [{ containerPort: 80 }] }), NODE, [pod({ ports: [{ containerPort: 80 }] })])).toBe(
    undefined,
  );
});

test.each([
  ['all addresses', '0.0.0.0', port(6443), true],
  ['one address', '127.0.0.1', port(6443), true],
  ['another address', '127.0.0.1', port(6443, { hostIP: '192.0.2.1' }), false],
  ['the same address', '192.0.2.1', port(6443, { hostIP: '192.0.2.1' }), true],
  ['another port', '0.0.0.0', port(6444), false],
])('a host port that a program listens on at %s', (_, address, own, isRejected) => {
  const portsInUse = [{ protocol: 'TCP', address, port: 6443, holder: 'the API server' }];
  const settings = { allowedUnsafeSysctls: [], portsInUse };
  expect(admit(pod({ ports: [own] }), NODE, [], settings)).toEqual(
    isRejected ? { reason: 'PortInUse', message: 'Port TCP/6443 of the node is in use by the API server' } : undefined,
  );
});

test('a taint that evicts keeps pods off; others are the business of the scheduler', () => {
  const tainted = (effect: string) => node({ spec: { taints: [{ key: 'k', value: 'v', effect }] } });
  expect(admit(pod(), tainted('NoSchedule'), [])).toBeUndefined();
  expect(admit(pod(), tainted('NoExecute'), [])).toEqual({
    reason: 'TaintToleration',
    message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  });
  expect(
    admit(pod({ spec: { tolerations: [{ key: 'k', operator: 'Exists' }] } }), tainted('NoExecute'), []),
  ).toBeUndefined();
  const fromFile = { annotations: { 'kubernetes.io/config.source': 'file' } };
  expect(admit(pod({ metadata: fromFile }), tainted('NoExecute'), [])).toBeUndefined();
});

const sysctl = (name: string, spec: object = {}) =>
  pod({ spec: { securityContext: { sysctls: [{ name, value: '1' }] }, ...spec } });
test.each([
  ['net.ipv4.tcp_syncookies', {}, undefined],
  ['net/ipv4/tcp_syncookies', {}, undefined],
  ['net.ipv4.tcp_keepalive_time', {}, undefined],
  // Since 4.15, and the node has 4.14.
  ['net.ipv4.tcp_rmem', {}, '"net.ipv4.tcp_rmem" not allowlisted'],
  ['kernel.msgmax', {}, '"kernel.msgmax" not allowlisted'],
  ['toString', {}, '"toString" not allowlisted'],
  ['net.ipv4.tcp_syncookies', { hostNetwork: true }, '"net.ipv4.tcp_syncookies" not allowed with host net enabled'],
  ['kernel.shm_rmid_forced', { hostIPC: true }, '"kernel.shm_rmid_forced" not allowed with host ipc enabled'],
])('sysctl %s with %j', (name, spec, problem) => {
  const expected = problem && { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
  expect(admit(sysctl(name, spec), NODE, [])).toEqual(expected);
});

test('unsafe sysctls can be allowed', () => {
  const settings = { allowedUnsafeSysctls: ['kernel.msg*', 'net.ipv4.tcp_rmem'], portsInUse: [] };
  expect(admission(sysctl('kernel.msgmax'), NODE, [], settings).type).toBe('admitted');
  expect(admission(sysctl('net.ipv4.tcp_rmem'), NODE, [], settings).type).toBe('admitted');
  expect(admission(sysctl('kernel.sem'), NODE, [], settings).type).toBe('rejected');
});

test('a sysctl is safe where the kernel isolates it', () => {
  const newer = node({ status: { nodeInfo: { kernelVersion: '4.15.0-generic' } } });
  expect(admit(sysctl('net.ipv4.tcp_rmem'), newer, [])).toBeUndefined();
});

test('the operating system has to match', () => {
  expect(admit(pod({ spec: { os: { name: 'windows' } } }), NODE, [])).toEqual({
    reason: 'PodOSNotSupported',
    message: "Failed to admit pod as the OS field doesn't match node OS",
  });
  expect(admit(pod({ spec: { os: { name: 'linux' } } }), NODE, [])).toBeUndefined();
  expect(admit(pod({ metadata: { labels: { 'kubernetes.io/os': 'windows' } } }), NODE, [])?.reason).toBe(
    'PodOSSelectorNodeLabelDoesNotMatch',
  );
});

test('strict supplemental groups need a node that has them', () => {
  const strict = pod({ spec: { securityContext: { supplementalGroupsPolicy: 'Strict' } } });
  expect(admit(strict, NODE, [])).toEqual({
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  });
  expect(admit(strict, node({ status: { features: { supplementalGroupsPolicy: true } } }), [])).toBeUndefined();
});

const pressed = (...types: string[]) =>
  node({
    status: { conditions: [{ type: 'Ready', status: 'True' }, ...types.map((type) => ({ type, status: 'True' }))] },
  });
const MEMORY = 'node.kubernetes.io/memory-pressure';
test.each([
  ['best effort', pod(), ['MemoryPressure'], 'The node had condition: [MemoryPressure]. '],
  ['burstable', pod({ requests: { cpu: '1m' } }), ['MemoryPressure'], undefined],
  ['tolerating', pod({ spec: { tolerations: [{ key: MEMORY, operator: 'Exists' }] } }), ['MemoryPressure'], undefined],
  ['burstable', pod({ requests: { cpu: '1m' } }), ['DiskPressure'], 'The node had condition: [DiskPressure]. '],
  ['best effort', pod(), ['MemoryPressure', 'PIDPressure'], 'The node had condition: [MemoryPressure PIDPressure]. '],
  ['critical', pod({ spec: { priority: 2_000_000_000 } }), ['DiskPressure'], undefined],
])('a %s pod (%#) under pressure', (_, own, types, message) => {
  expect(admit(own, pressed(...types), [])).toEqual(message && { reason: 'Evicted', message });
});

const critical = (requests: object) => pod({ requests, spec: { priority: 2_000_000_000 } });
const GUARANTEED = { cpu: '1', memory: '100Mi' };

test('a critical pod takes the place of as few and as unimportant pods as possible', () => {
  const guaranteed = pod({ requests: GUARANTEED, limits: GUARANTEED, spec: { priority: 0 } });
  const large = pod({ requests: { cpu: '600m' }, spec: { priority: 0 } });
  const small = pod({ requests: { cpu: '300m' }, spec: { priority: 0 } });
  const result = admission(
    critical({ cpu: '300m' }),
    node({ status: { allocatable: { cpu: '2', memory: '1Gi', pods: '9' } } }),
    [guaranteed, large, small],
  );
  // 100m are free, 200m are missing: the smaller one is enough.
  expect(result).toMatchObject({ type: 'preempting', victims: [small] });
  expect(admission(critical({ cpu: '300m' }), NODE, [guaranteed, large, small])).toMatchObject({
    type: 'preempting',
    lacking: { reason: 'OutOfpods' },
  });
});

test('a guaranteed pod goes only when all others are not enough', () => {
  const guaranteed = pod({ requests: GUARANTEED, limits: GUARANTEED, spec: { priority: 0 } });
  const burstable = pod({ requests: { cpu: '1' }, spec: { priority: 0 } });
  expect(admission(critical({ cpu: '1500m' }), NODE, [guaranteed, burstable])).toMatchObject({
    victims: [burstable, guaranteed],
  });
});

test('a pod of no requests makes room for one pod', () => {
  const others = [pod({ requests: { cpu: '1m' } }), pod(), pod()];
  expect(admission(critical({}), NODE, others)).toMatchObject({ victims: [others[2]] });
});

test('a critical pod that cannot fit is rejected, and preempts nobody', () => {
  const others = [critical({ cpu: '1' }), pod({ requests: { cpu: '500m' } })];
  expect(admission(critical({ cpu: '2' }), NODE, others)).toEqual({
    type: 'rejected',
    reason: 'UnexpectedAdmissionError',
    message:
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to ' +
      'preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
  });
  const misplaced = pod({ requests: { cpu: '2' }, spec: { priority: 2e9, nodeSelector: { zone: 'b' } } });
  expect(admission(misplaced, NODE, others)).toMatchObject({ type: 'rejected', reason: 'NodeAffinity' });
});
