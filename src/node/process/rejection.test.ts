import { expect, it } from 'vitest';
import type { SeenPod } from '../pod/container-run.ts';
import { ignoredRequests, rejection } from './rejection.ts';
import type { KeeperFacts } from './wire/calls.ts';

const ROOT: KeeperFacts = {
  protocol: 1,
  pid: 1,
  name: 'test',
  podCidr: '10.0.0.0/24',
  executor: 'oci',
  runtime: '/usr/sbin/runc',
  hasUserNamespaces: true,
  whyNotIsolated: undefined,
  hasNetwork: true,
  whyNoNetwork: undefined,
  networkLimitation: undefined,
  hasHostPorts: true,
  limits: ['cpu', 'memory', 'pids'],
  whyUnlimited: 'cgroups cannot be written',
  plain: undefined,
  hasTerminals: true,
  hasSelinux: false,
};
const PLAIN: KeeperFacts = {
  ...ROOT,
  executor: 'plain',
  runtime: undefined,
  hasUserNamespaces: false,
  whyNotIsolated: 'no OCI runtime is installed (runc or crun)',
  limits: [],
  plain: { uid: 65_534, gid: 65_534, hasNoNewPrivileges: true, hasNoCapabilities: true },
};
const USER: KeeperFacts = {
  ...PLAIN,
  whyNotIsolated: 'the node agent does not run as root',
  hasNetwork: false,
  whyNoNetwork: 'the node agent does not run as root',
  whyUnlimited: 'no cgroup is delegated to the user of the node agent',
  plain: { uid: 1000, gid: 100, hasNoNewPrivileges: true, hasNoCapabilities: true },
};

function pod(container: object = {}, spec: object = {}): SeenPod {
  return { spec: { containers: [{ name: 'c', image: 'host', ...container }], ...spec } } as unknown as SeenPod;
}

const CONTAINERS = /pods are containers only where the node agent runs as root and runc or crun is installed/;

it.each<[string, SeenPod, (RegExp | undefined)[]]>([
  ['a plain pod', pod(), [undefined, undefined, undefined]],
  ['limits', pod({ resources: { limits: { cpu: '1', memory: '1Gi' } } }), [undefined, undefined, undefined]],
  ['requests', pod({ resources: { requests: { cpu: '1' } } }), [undefined, undefined, undefined]],
  ['an image', pod({ image: 'busybox' }), [undefined, /only run programs of the node/, CONTAINERS]],
  ['a volume', pod({ volumeMounts: [{ name: 'v', mountPath: '/data' }] }), [undefined, /mount \/data/, CONTAINERS]],
  [
    'its token',
    pod({ volumeMounts: [{ name: 't', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }),
    [undefined, undefined, undefined],
  ],
  ['privileged', pod({ securityContext: { privileged: true } }), [undefined, /privileged/, CONTAINERS]],
  [
    'dropped capabilities',
    pod({ securityContext: { capabilities: { drop: ['ALL'] } } }),
    [undefined, undefined, undefined],
  ],
  [
    'added capabilities',
    pod({ securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } }),
    [undefined, /apply capabilities/, CONTAINERS],
  ],
  ['a user who is not root', pod({ securityContext: { runAsNonRoot: true } }), [undefined, undefined, undefined]],
  [
    'the user nobody',
    pod({ securityContext: { runAsUser: 65534 } }),
    [undefined, undefined, /runAsUser: 65534, only 1000/],
  ],
  ['the user of the agent', pod({}, { securityContext: { runAsUser: 1000 } }), [undefined, /runAsUser/, undefined]],
  ['the group of the agent', pod({ securityContext: { runAsGroup: 100 } }), [undefined, /runAsGroup/, undefined]],
  ['another group', pod({ securityContext: { runAsGroup: 0 } }), [undefined, /runAsGroup/, CONTAINERS]],
  [
    'a read-only root',
    pod({ securityContext: { readOnlyRootFilesystem: true } }),
    [undefined, /readOnlyRoot/, CONTAINERS],
  ],
  [
    'a filter of system calls',
    pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }),
    [undefined, /seccompProfile/, CONTAINERS],
  ],
  [
    'no filter of system calls',
    pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    [undefined, undefined, undefined],
  ],
  ['host aliases', pod({}, { hostAliases: [{ ip: '192.0.2.1' }] }), [undefined, undefined, undefined]],
  [
    'an unknown capability',
    pod({ securityContext: { capabilities: { add: ['FLY'] } } }),
    [/unknown capability FLY/, /FLY/, /FLY/],
  ],
  [
    'host addresses',
    pod({ ports: [{ hostPort: 80, containerPort: 80, hostIP: '127.0.0.1' }] }),
    [undefined, undefined, undefined],
  ],
  [
    'host addresses that are text for another program',
    pod({ ports: [{ hostPort: 80, containerPort: 80, hostIP: '1.2.3.4 accept\n}\ntable ip x {' }] }),
    [/hostIP "1.2.3.4 accept\\n}.*" of container c is not an IPv4 address/, /hostIP/, /hostIP/],
  ],
  ['a terminal', pod({ tty: true }), [undefined, undefined, undefined]],
  [
    'no privilege escalation',
    pod({ securityContext: { allowPrivilegeEscalation: false } }),
    [undefined, undefined, undefined],
  ],
  ['fsGroup', pod({}, { securityContext: { fsGroup: 1 } }), [undefined, /fsGroup/, CONTAINERS]],
  ['fsGroup of the agent', pod({}, { securityContext: { fsGroup: 100 } }), [undefined, /fsGroup/, undefined]],
  [
    'sysctls',
    pod({}, { securityContext: { sysctls: [{ name: 'a', value: 'b' }] } }),
    [undefined, /sysctl/, CONTAINERS],
  ],
  ['hostUsers', pod({}, { hostUsers: false }), [undefined, /user namespaces/, CONTAINERS]],
  ['processes of the node', pod({}, { hostPID: true, hostIPC: true }), [undefined, undefined, undefined]],
  ['processes of the pod', pod({}, { shareProcessNamespace: true }), [undefined, undefined, undefined]],
  ['a profile of the node', pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }), [/seccomp/, /s/, /s/]],
  [
    'mounts that reach the node',
    pod({ volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] }),
    [undefined, /cannot mount \/v/, /cannot mount \/v/],
  ],
  [
    'another host port',
    pod({ ports: [{ hostPort: 80, containerPort: 8080 }] }),
    [undefined, undefined, /must equal its containerPort/],
  ],
  ['the same host port', pod({ ports: [{ hostPort: 8080, containerPort: 8080 }] }), [undefined, undefined, undefined]],
])('%s', (_, subject, expected) => {
  for (const [i, facts] of [ROOT, PLAIN, USER].entries()) {
    const message = rejection(subject, facts, true);
    if (expected[i] === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(expected[i]);
  }
});

it('ignores SELinux labels as other runtimes do, unless the kernel has SELinux', () => {
  const labelled = pod({ securityContext: { seLinuxOptions: { level: 's0' } } });
  expect(rejection(labelled, ROOT, true)).toBeUndefined();
  expect(rejection(labelled, { ...ROOT, hasSelinux: true }, true)).toMatch(/SELinux labels/);
});

it('rejects user namespaces where there are none', () => {
  const facts = { ...ROOT, hasUserNamespaces: false, whyNotIsolated: 'user namespaces: forbidden' };
  expect(rejection(pod({}, { hostUsers: false }), facts, true)).toMatch(/hostUsers: false.*forbidden/);
});

it('rejects host ports without nft', () => {
  const subject = pod({ ports: [{ hostPort: 80, containerPort: 80 }] });
  expect(rejection(subject, { ...ROOT, hasHostPorts: false }, true)).toMatch(/nft/);
  const onNode = pod({ ports: [{ hostPort: 80 }] }, { hostNetwork: true });
  expect(rejection(onNode, { ...ROOT, hasHostPorts: false }, true)).toBe(undefined);
});

it.each([
  ['containers', { containers: [{ name: 'c', image: 'host:1' }] }],
  ['initContainers', { initContainers: [{ name: 'c', image: 'host' }], containers: [] }],
  ['ephemeralContainers', { ephemeralContainers: [{ name: 'c', image: 'quarterdeck.local/host' }], containers: [] }],
])('rejects the image "host" in %s where it is not allowed, and names the flag', (_, spec) => {
  for (const facts of [ROOT, PLAIN, USER]) {
    expect(rejection({ spec } as unknown as SeenPod, facts, false)).toBe(
      'The process runtime cannot run this pod: container c: the image "host", which is the file system of the node, is not allowed on this node (--allow-host-image).',
    );
  }
  expect(rejection(pod({ image: 'busybox' }), ROOT, false)).toBeUndefined();
});

it('rejects what setpriv is needed for where it is not installed', () => {
  const facts = { ...USER, plain: { ...USER.plain!, hasNoNewPrivileges: false } };
  expect(rejection(pod({ securityContext: { allowPrivilegeEscalation: false } }), facts, true)).toMatch(/setpriv/);
  expect(rejection(pod({ securityContext: { capabilities: { drop: ['ALL'] } } }), facts, true)).toMatch(/capabilities/);
});

it('rejects dropped capabilities where the user has some', () => {
  const facts = { ...USER, plain: { ...USER.plain!, hasNoCapabilities: false } };
  expect(rejection(pod({ securityContext: { capabilities: { drop: ['ALL'] } } }), facts, true)).toMatch(/capabilities/);
});

it('rejects limits of containers that cannot be enforced', () => {
  const limited = pod({ resources: { limits: { memory: '1Gi' } } });
  expect(rejection(limited, { ...ROOT, limits: ['cpu'] }, true)).toMatch(
    /the limits of memory of container c cannot be enforced: cgroups cannot be written/,
  );
  expect(ignoredRequests(limited, { ...ROOT, limits: [] })).toEqual([]);
});

const LIMITED = pod(
  { resources: { limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' } } },
  { resources: { limits: { memory: '1Gi' } } },
);
const WHY = 'no cgroup is delegated to the user of the node agent';
it.each<[string, SeenPod, Partial<KeeperFacts>, string[]]>([
  ['nothing', pod(), {}, []],
  ['limits', LIMITED, {}, [`limits are not enforced: memory of the pod, cpu and memory of container c (${WHY})`]],
  ['some limits', LIMITED, { limits: ['memory'] }, [`limits are not enforced: cpu of container c (${WHY})`]],
  ['no limits', LIMITED, { limits: ['cpu', 'memory'] }, []],
  [
    'names',
    pod({}, { hostAliases: [{ ip: '192.0.2.1' }], dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.1'] } }),
    {},
    [
      'hostAliases have no effect: programs read /etc/hosts of the node',
      'dnsConfig has no effect: programs read /etc/resolv.conf of the node',
    ],
  ],
])('says that plain processes ignore %s', (_, subject, facts, expected) => {
  expect(ignoredRequests(subject, { ...USER, ...facts })).toEqual(expected);
});
