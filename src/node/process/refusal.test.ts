import { expect, it } from 'vitest';
import type { SeenPod } from '../pod/container-run.ts';
import { refusal } from './refusal.ts';
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
  hasCgroups: true,
  hasTerminals: true,
  hasSelinux: false,
};
const PLAIN: KeeperFacts = {
  ...ROOT,
  executor: 'plain',
  runtime: undefined,
  hasUserNamespaces: false,
  whyNotIsolated: 'no OCI runtime is installed (runc or crun)',
  hasCgroups: false,
};
const USER: KeeperFacts = {
  ...PLAIN,
  whyNotIsolated: 'the node agent does not run as root',
  hasNetwork: false,
  whyNoNetwork: 'the node agent does not run as root',
};

function pod(container: object = {}, spec: object = {}): SeenPod {
  return { spec: { containers: [{ name: 'c', image: 'host', ...container }], ...spec } } as unknown as SeenPod;
}

const CONTAINERS = /pods are containers only where the node agent runs as root and runc or crun is installed/;

it.each<[string, SeenPod, (RegExp | undefined)[]]>([
  ['a plain pod', pod(), [undefined, undefined, undefined]],
  [
    'limits',
    pod({ resources: { limits: { cpu: '1', memory: '1Gi' } } }),
    [undefined, /cpu and memory limits/, CONTAINERS],
  ],
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
    [undefined, /apply capabilities/, CONTAINERS],
  ],
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
    [undefined, /privilege escalation/, CONTAINERS],
  ],
  ['fsGroup', pod({}, { securityContext: { fsGroup: 1 } }), [undefined, /fsGroup/, CONTAINERS]],
  [
    'sysctls',
    pod({}, { securityContext: { sysctls: [{ name: 'a', value: 'b' }] } }),
    [undefined, /sysctl/, CONTAINERS],
  ],
  ['hostUsers', pod({}, { hostUsers: false }), [undefined, /user namespaces/, CONTAINERS]],
  ['hostPID', pod({}, { hostPID: true }), [undefined, /hostPID/, CONTAINERS]],
  ['a profile of the node', pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }), [/seccomp/, /s/, /s/]],
  [
    'mounts that reach the node',
    pod({ volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] }),
    [/Bidirectional/, /Bidirectional/, /Bidirectional/],
  ],
  [
    'another host port',
    pod({ ports: [{ hostPort: 80, containerPort: 8080 }] }),
    [undefined, undefined, /must equal its containerPort/],
  ],
  ['the same host port', pod({ ports: [{ hostPort: 8080, containerPort: 8080 }] }), [undefined, undefined, undefined]],
])('%s', (_, subject, expected) => {
  for (const [i, facts] of [ROOT, PLAIN, USER].entries()) {
    const message = refusal(subject, facts, true);
    if (expected[i] === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(expected[i]);
  }
});

it('ignores SELinux labels as other runtimes do, unless the kernel has SELinux', () => {
  const labelled = pod({ securityContext: { seLinuxOptions: { level: 's0' } } });
  expect(refusal(labelled, ROOT, true)).toBeUndefined();
  expect(refusal(labelled, { ...ROOT, hasSelinux: true }, true)).toMatch(/SELinux labels/);
});

it('refuses user namespaces where there are none', () => {
  const facts = { ...ROOT, hasUserNamespaces: false, whyNotIsolated: 'user namespaces: forbidden' };
  expect(refusal(pod({}, { hostUsers: false }), facts, true)).toMatch(/hostUsers: false.*forbidden/);
});

it('refuses host ports without nft', () => {
  const subject = pod({ ports: [{ hostPort: 80, containerPort: 80 }] });
  expect(refusal(subject, { ...ROOT, hasHostPorts: false }, true)).toMatch(/nft/);
  const onNode = pod({ ports: [{ hostPort: 80 }] }, { hostNetwork: true });
  expect(refusal(onNode, { ...ROOT, hasHostPorts: false }, true)).toBe(undefined);
});

it.each([
  ['containers', { containers: [{ name: 'c', image: 'host:1' }] }],
  ['initContainers', { initContainers: [{ name: 'c', image: 'host' }], containers: [] }],
  ['ephemeralContainers', { ephemeralContainers: [{ name: 'c', image: 'quarterdeck.local/host' }], containers: [] }],
])('refuses the image "host" in %s where it is not allowed, and names the flag', (_, spec) => {
  for (const facts of [ROOT, PLAIN, USER]) {
    expect(refusal({ spec } as unknown as SeenPod, facts, false)).toBe(
      'The process runtime cannot run this pod: container c: the image "host", which is the file system of the node, is not allowed on this node (--allow-host-image).',
    );
  }
  expect(refusal(pod({ image: 'busybox' }), ROOT, false)).toBeUndefined();
});
