import { expect, it } from 'vitest';
import type { SeenPod } from '../pod/container-run.ts';
import { refusal } from './refusal.ts';
import type { KeeperFacts } from './wire/calls.ts';

const ROOT: KeeperFacts = {
  protocol: 1,
  pid: 1,
  name: 'test',
  podCidr: '10.0.0.0/24',
  isolation: 'root',
  whyNotIsolated: undefined,
  hasNetwork: true,
  whyNoNetwork: undefined,
  hasHostPorts: true,
  hasCgroups: true,
  hasTerminals: true,
};
const USER: KeeperFacts = {
  ...ROOT,
  isolation: 'user',
  whyNotIsolated: 'the node agent does not run as root',
  hasNetwork: false,
  hasCgroups: false,
};
const NONE: KeeperFacts = { ...USER, isolation: 'none', whyNotIsolated: 'perl is not installed', hasTerminals: false };

function pod(container: object = {}, spec: object = {}): SeenPod {
  return { spec: { containers: [{ name: 'c', image: 'host', ...container }], ...spec } } as unknown as SeenPod;
}

it.each([
  ['a plain pod', pod(), [undefined, undefined, undefined]],
  [
    'limits',
    pod({ resources: { limits: { cpu: '1', memory: '1Gi' } } }),
    [undefined, /cpu and memory limits of container c/, /limits/],
  ],
  ['requests', pod({ resources: { requests: { cpu: '1' } } }), [undefined, undefined, undefined]],
  ['an image', pod({ image: 'busybox' }), [undefined, undefined, /only run programs of the node.*perl/]],
  ['a volume', pod({ volumeMounts: [{ name: 'v', mountPath: '/data' }] }), [undefined, undefined, /mount \/data/]],
  [
    'its token',
    pod({ volumeMounts: [{ name: 't', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }),
    [undefined, undefined, undefined],
  ],
  ['privileged', pod({ securityContext: { privileged: true } }), [undefined, /privileged.*root/, /privileged/]],
  [
    'dropped capabilities',
    pod({ securityContext: { capabilities: { drop: ['ALL'] } } }),
    [undefined, undefined, /apply capabilities/],
  ],
  [
    'an unknown capability',
    pod({ securityContext: { capabilities: { add: ['FLY'] } } }),
    [/unknown capability FLY/, /FLY/, /FLY/],
  ],
  ['a terminal', pod({ tty: true }), [undefined, undefined, /terminal/]],
  [
    'no privilege escalation',
    pod({ securityContext: { allowPrivilegeEscalation: false } }),
    [undefined, undefined, /privilege escalation/],
  ],
  ['fsGroup', pod({}, { securityContext: { fsGroup: 1 } }), [undefined, /fsGroup/, /fsGroup/]],
  ['sysctls', pod({}, { securityContext: { sysctls: [{ name: 'a', value: 'b' }] } }), [undefined, /sysctl/, /sysctl/]],
  ['hostUsers', pod({}, { hostUsers: false }), [/user namespaces/, /user namespaces/, /user namespaces/]],
  ['hostPID', pod({}, { hostPID: true }), [undefined, /hostPID/, /hostPID/]],
  ['a profile of the node', pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }), [/seccomp/, /s/, /s/]],
  [
    'mounts that reach the node',
    pod({ volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] }),
    [/Bidirectional/, /Bidirectional/, /Bidirectional/],
  ],
  [
    'another host port',
    pod({ ports: [{ hostPort: 80, containerPort: 8080 }] }),
    [undefined, /must equal its containerPort/, /must equal/],
  ],
  ['the same host port', pod({ ports: [{ hostPort: 8080, containerPort: 8080 }] }), [undefined, undefined, undefined]],
])('%s', (_, subject, expected) => {
  for (const [i, facts] of [ROOT, USER, NONE].entries()) {
    const message = refusal(subject, facts, true);
    if (expected[i] === undefined) expect(message).toBeUndefined();
    else expect(message).toMatch(expected[i]);
  }
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
  for (const facts of [ROOT, USER, NONE]) {
    expect(refusal({ spec } as unknown as SeenPod, facts, false)).toBe(
      'The process runtime cannot run this pod: container c: the image "host", which is the file system of the node, is not allowed on this node (--allow-host-image).',
    );
  }
  expect(refusal(pod({ image: 'busybox' }), ROOT, false)).toBeUndefined();
});
