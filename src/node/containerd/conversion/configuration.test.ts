import { expect, it } from 'vitest';
import type { ContainerConfig } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { ContainerMessage } from '../messages/container.ts';
import { RunSandboxRequest, SandboxMessage } from '../messages/sandbox.ts';
import { SIGNALS } from '../messages/signals.ts';
import { containerMessage } from './container-message.ts';
import { sandboxMessage } from './sandbox-message.ts';

const resources = {
  cpuShares: 2,
  cpuQuota: -1,
  cpuPeriod: 100_000,
  memoryBytes: 2 ** 40,
  oomScoreAdj: -997,
  hugepages: [{ pageSize: '2MB', bytes: 4 }],
  cpusetCpus: '0-1',
  unified: { 'memory.high': '5' },
};
const mappings = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
const selinux = { user: 'u', role: 'r', type: 't', level: 'l' };

/** Sandbox in which every field has a value that is not the default. */
const sandbox: SandboxConfig = {
  pod: { namespace: 'ns', name: 'name', uid: 'uid' },
  attempt: 3,
  hostname: 'host',
  logDirectory: '/logs',
  dns: { servers: ['1.1.1.1'], searches: ['a.test'], options: ['ndots:1'] },
  ports: [{ protocol: 'UDP', containerPort: 53, hostPort: 5353, hostIP: '127.0.0.1' }],
  labels: { label: 'a' },
  annotations: { annotation: 'b' },
  namespaces: { network: 'pod', pid: 'pod', ipc: 'node', user: mappings },
  sysctls: { 'net.ipv4.tcp_syncookies': '1' },
  security: {
    privileged: true,
    runAsUser: 0,
    runAsGroup: 1,
    supplementalGroups: [2],
    seccomp: { type: 'localhost', file: '/seccomp.json' },
    selinux,
  },
  qosClass: 'Burstable',
  overhead: resources,
  resources,
  cgroupResources: undefined,
  runtimeHandler: 'kata',
};

const container: ContainerConfig = {
  name: 'main',
  attempt: 2,
  image: 'image:1',
  imageId: 'sha256:1',
  command: ['/bin/sh'],
  args: ['-c'],
  workingDirectory: '/work',
  env: [{ name: 'A', value: 'b' }],
  mounts: [
    {
      hostPath: '/host',
      containerPath: '/container',
      readOnly: true,
      recursiveReadOnly: true,
      propagation: 'bidirectional',
      selinuxRelabel: true,
      idMappings: { uids: mappings, gids: mappings },
      image: { id: 'sha256:2', subPath: 'part' },
    },
  ],
  devices: [{ hostPath: '/dev/a', containerPath: '/dev/b', permissions: 'rw' }],
  labels: { label: 'a' },
  annotations: { annotation: 'b' },
  logPath: 'main/2.log',
  stdin: true,
  stdinOnce: true,
  tty: true,
  resources,
  security: {
    privileged: true,
    runAsUser: undefined,
    runAsUsername: 'user',
    runAsGroup: 4,
    supplementalGroups: [5],
    mergesImageGroups: false,
    addCapabilities: ['NET_ADMIN'],
    dropCapabilities: ['ALL'],
    readOnlyRoot: true,
    noNewPrivileges: true,
    seccomp: { type: 'localhost', file: '/seccomp.json' },
    appArmor: { type: 'localhost', profile: 'profile' },
    selinux,
    maskedPaths: ['/proc/kcore'],
    readOnlyPaths: ['/proc/sys'],
    pid: { containerId: 'target' },
  },
  stopSignal: 'SIGUSR1',
};

const encodeSandbox = (config: SandboxConfig) =>
  RunSandboxRequest.encode({
    config: sandboxMessage(config, { owner: 'node', cgroup: `/${config.qosClass}` }),
    runtimeHandler: config.runtimeHandler,
  });
const encodeContainer = (config: ContainerConfig) =>
  ContainerMessage.encode(containerMessage(config, { sandbox, sandboxId: 'id', owner: 'node' }));

/** Returns all values that differ from this one in a single leaf, by the path of that leaf. */
function variants(value: unknown, path = ''): [string, unknown][] {
  if (typeof value === 'string') return [[path, CHOICES[value] ?? `${value}2`]];
  if (typeof value === 'number') return [[path, value + 1]];
  if (typeof value === 'boolean') return [[path, !value]];
  if (Array.isArray(value)) {
    return value.flatMap((item, at) =>
      variants(item, `${path}[${at}]`).map(([where, other]) => [where, value.with(at, other)] as [string, unknown]),
    );
  }
  return Object.entries(value ?? {}).flatMap(([key, item]) =>
    variants(item, `${path}.${key}`).map(
      ([where, other]) => [where, { ...(value as object), [key]: other }] as [string, unknown],
    ),
  );
}

/** Other values for texts of which only some are allowed. */
const CHOICES: Readonly<Record<string, string>> = {
  UDP: 'SCTP',
  pod: 'node',
  node: 'pod',
  bidirectional: 'private',
  localhost: 'unconfined',
  SIGUSR1: 'SIGUSR2',
};

it.each(variants(sandbox))('what the agent asks for reaches CRI: sandbox%s', (_, other) => {
  expect(encodeSandbox(other as SandboxConfig)).not.toEqual(encodeSandbox(sandbox));
});

it.each(variants(container))('what the agent asks for reaches CRI: container%s', (_, other) => {
  expect(encodeContainer(other as ContainerConfig)).not.toEqual(encodeContainer(container));
});

it('what the agent asks for is decoded as it was asked for', () => {
  const decoded = SandboxMessage.decode(
    SandboxMessage.encode(sandboxMessage(sandbox, { owner: 'node', cgroup: undefined })),
  );
  expect(decoded.linux?.resources).toEqual(resources);
  expect(decoded.linux?.security?.runAsUser).toBe(0);
  expect(decoded.linux?.security?.namespaces?.user).toEqual({ mode: 'pod', uids: mappings, gids: mappings });
  expect(decoded.labels).toEqual({ label: 'a', 'quarterdeck.kubernetes.io/node': 'node' });
});

it('what the agent asks for has no name of its own on the network of the node', () => {
  const onNode = { ...sandbox, namespaces: { ...sandbox.namespaces, network: 'node' as const } };
  expect(sandboxMessage(onNode, { owner: 'node', cgroup: undefined }).hostname).toBe('');
});

it('what the agent asks for has a number for a user rather than a name', () => {
  const security = { ...container.security, runAsUser: 0 };
  const { linux } = containerMessage({ ...container, security }, { sandbox, sandboxId: 'id', owner: 'node' });
  expect([linux?.security?.runAsUser, linux?.security?.runAsUsername]).toEqual([0, undefined]);
});

it('what the agent asks for has signals under the numbers of CRI', () => {
  const numbers = ['SIGKILL', 'SIGTERM', 'SIGUSR1', 'SIGRTMIN', 'SIGRTMIN+15', 'SIGRTMAX-14', 'SIGRTMAX-1', 'SIGRTMAX'];
  expect(numbers.map((name) => SIGNALS.indexOf(name))).toEqual([13, 23, 29, 35, 50, 51, 64, 65]);
});
