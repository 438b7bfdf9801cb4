import { describe, expect, it } from 'vitest';
import { seenContainer, seenPod } from '../../../test/support/node/seen-pod.ts';
import { type ContainerOptions, containerConfigOf } from './container.ts';
import { containerHash } from './labels.ts';
import { sandboxConfigOf } from './sandbox.ts';

describe('a sandbox', () => {
  const options = {
    attempt: 2,
    logRoot: '/logs',
    dns: {
      clusterDns: ['10.96.0.10'],
      clusterDomain: 'cluster.local',
      node: { servers: [], searches: [], options: [] },
    },
    runtimeHandler: 'kata',
    idMappings: undefined,
    podPidsLimit: 100,
  };
  const configOf = (spec: object = {}, metadata: object = {}) =>
    sandboxConfigOf(seenPod(spec, metadata), options).config;

  it('is known by the pod', () => {
    expect(
      configOf({}, { labels: { app: 'x', 'io.kubernetes.pod.name': 'forged' }, annotations: { a: 'b' } }),
    ).toMatchObject({
      pod: { namespace: 'shop', name: 'web', uid: 'u-1' },
      attempt: 2,
      hostname: 'web',
      logDirectory: '/logs/shop_web_u-1',
      labels: {
        app: 'x',
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'shop',
        'io.kubernetes.pod.uid': 'u-1',
      },
      annotations: { a: 'b' },
      runtimeHandler: 'kata',
    });
  });

  it('limits the processes of the pod', () => {
    expect(configOf().cgroupResources?.pidsLimit).toBe(100);
    const { config } = sandboxConfigOf(seenPod(), { ...options, podPidsLimit: undefined });
    expect(config.cgroupResources?.pidsLimit).toBeUndefined();
  });

  it('has the namespaces that the pod wants', () => {
    expect(configOf().namespaces).toEqual({ network: 'pod', pid: 'container', ipc: 'pod', user: undefined });
    expect(configOf({ hostNetwork: true, hostIPC: true, hostPID: true }).namespaces).toEqual({
      network: 'node',
      pid: 'node',
      ipc: 'node',
      user: undefined,
    });
    const idMappings = [{ hostId: 65536, containerId: 0, length: 65536 }];
    const { config } = sandboxConfigOf(seenPod({ hostUsers: false }), { ...options, idMappings });
    expect(config.namespaces.user).toEqual(idMappings);
  });

  it('has the host ports of containers and sidecars', () => {
    const containers = [
      {
        name: 'c',
        ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP', hostIP: '127.0.0.1' }, { containerPort: 81 }],
      },
    ];
    const initContainers = [
      { name: 'i', ports: [{ containerPort: 1, hostPort: 1 }] },
      { name: 's', restartPolicy: 'Always', ports: [{ containerPort: 53, hostPort: 53, protocol: 'UDP' }] },
    ];
    const withResources = (list: object[]) => list.map((each) => ({ resources: {}, ...each }));
    const spec = { containers: withResources(containers), initContainers: withResources(initContainers) };
    expect(configOf(spec).ports).toEqual([
      { containerPort: 80, hostPort: 8080, protocol: 'TCP', hostIP: '127.0.0.1' },
      { containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: undefined },
    ]);
    expect(configOf({ ...spec, hostNetwork: true }).ports).toEqual([]);
  });
});

describe('a container', () => {
  const options: ContainerOptions = {
    attempt: 3,
    image: { id: 'sha256:1', user: undefined },
    env: [{ name: 'A', value: 'one' }],
    mounts: [],
    devices: [],
    machine: { memoryBytes: 1024 ** 3, cgroupVersion: 1, hugePageSizes: [] },
    seccompDirectory: '/seccomp',
    targetContainerId: undefined,
  };
  const configOf = (parts: object, spec: object = {}, metadata: object = {}) =>
    containerConfigOf(seenPod(spec, metadata), seenContainer(parts), options);

  it('runs its command with variables expanded, not through a shell', () => {
    expect(configOf({ command: ['echo', '$(A) $$(A) $(B)'], args: ['$(A)'], workingDir: '/w' })).toMatchObject({
      name: 'c',
      attempt: 3,
      image: 'busybox',
      imageId: 'sha256:1',
      command: ['echo', 'one $(A) $(B)'],
      args: ['one'],
      workingDirectory: '/w',
      logPath: 'c/3.log',
    });
  });

  it("uses the image's defaults for what it does not say", () => {
    expect(configOf({ command: [], workingDir: '' })).toMatchObject({
      command: undefined,
      args: undefined,
      workingDirectory: undefined,
      stdin: false,
      stdinOnce: false,
      tty: false,
      stopSignal: undefined,
    });
    expect(configOf({ stdin: true, stdinOnce: true, tty: true, lifecycle: { stopSignal: 'SIGUSR1' } })).toMatchObject({
      stdin: true,
      stdinOnce: true,
      tty: true,
      stopSignal: 'SIGUSR1',
    });
  });

  it('carries what is needed to stop it without its pod', () => {
    const preStop = { exec: { command: ['x'] } };
    const parts = {
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      lifecycle: { preStop },
      ports: [{ containerPort: 80 }],
    };
    const config = configOf(parts, { terminationGracePeriodSeconds: 30 }, { deletionGracePeriodSeconds: 5 });
    expect(config.labels).toEqual({
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
      'io.kubernetes.container.name': 'c',
    });
    expect(config.annotations).toEqual({
      'io.kubernetes.container.hash': containerHash({ name: 'c', image: 'busybox' }),
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.container.preStopHandler': JSON.stringify(preStop),
      'io.kubernetes.container.ports': '[{"containerPort":80}]',
      'io.kubernetes.pod.deletionGracePeriod': '5',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    });
  });

  it('has another hash with another image', () => {
    expect(containerHash({ name: 'c', image: 'a' })).not.toBe(containerHash({ name: 'c', image: 'b' }));
    expect(containerHash({ name: 'c', image: 'a' })).toMatch(/^[0-9a-f]{1,8}$/);
  });
});
