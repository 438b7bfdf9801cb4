import { describe, expect, it } from 'vitest';
import type { SeenPod } from '../../pod/container-run.ts';
import { featuresOf, handlersOf, plainVersion } from './features.ts';
import { rejectionOf } from './rejection.ts';

const status = (features: { recursiveReadOnly: boolean; userNamespaces: boolean } | undefined) => ({
  status: undefined,
  info: {},
  handlers: features ? [{ name: '', features }] : [],
  features: features && { supplementalGroupsPolicy: true },
});
const version = (runtimeVersion: string, runtimeName = 'containerd') => ({ runtimeName, runtimeVersion });
const old = featuresOf(version('1.6.20~ds1'), status(undefined), { hostPorts: true });
const full = featuresOf(version('v2.2.0'), status({ recursiveReadOnly: true, userNamespaces: true }), {
  hostPorts: true,
});

const pod = (spec: object, container: object = {}) =>
  ({ spec: { containers: [{ name: 'a', ...container }], ...spec } }) as unknown as SeenPod;

const image = { volumes: [{ name: 'v', image: { reference: 'i' } }] };
const DEMANDING: readonly [string, SeenPod, string][] = [
  ['a user namespace', pod({ hostUsers: false }), 'user namespaces (hostUsers: false)'],
  [
    'a recursive read-only mount',
    pod({}, { volumeMounts: [{ name: 'v', mountPath: '/v', recursiveReadOnly: 'Enabled' }] }),
    'recursive read-only mounts',
  ],
  [
    'strict groups',
    pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    'supplementalGroupsPolicy: Strict',
  ],
  ['an image volume', pod(image), 'image volumes'],
  [
    'a part of an image volume',
    pod(image, { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 's' }] }),
    'image volumes and a subPath of an image volume',
  ],
  ['a stop signal', pod({}, { lifecycle: { stopSignal: 'SIGINT' } }), 'lifecycle.stopSignal'],
];

describe('a pod', () => {
  it.each(DEMANDING)('with %s is rejected by containerd 1.6', (_, demanding, what) => {
    expect(rejectionOf(demanding, old)).toBe(`the runtime containerd 1.6.20 does not support ${what}`);
  });

  it.each(DEMANDING)('with %s is accepted by a runtime that can do it', (_, demanding) => {
    expect(rejectionOf(demanding, full)).toBeUndefined();
  });

  it('without special demands is accepted', () => {
    const plain = pod({ hostUsers: true, volumes: [{ name: 'e', emptyDir: {} }] });
    const mounted = pod({}, { volumeMounts: [{ name: 'v', mountPath: '/v', recursiveReadOnly: 'IfPossible' }] });
    expect([rejectionOf(plain, old), rejectionOf(mounted, old)]).toEqual([undefined, undefined]);
  });

  it('with a host address that is no address is rejected', () => {
    const at = (hostIP: string) => pod({}, { ports: [{ containerPort: 80, hostPort: 8080, hostIP }] });
    expect(rejectionOf(at('x; y'), full)).toBe('hostIP "x; y" of container a is not an IP address');
    expect(['127.0.0.1', '::1', ''].map((hostIP) => rejectionOf(at(hostIP), full))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('with a host port needs iptables, unless it is on the network of the node', () => {
    const without = { ...full, hostPorts: false };
    const ports = { ports: [{ containerPort: 80, hostPort: 8080 }] };
    expect(rejectionOf(pod({}, ports), without)).toContain('hostPort');
    expect(rejectionOf(pod({ hostNetwork: true }, ports), without)).toBeUndefined();
  });
});

describe('features', () => {
  it.each([
    ['1.7.27', 'containerd', false, false],
    ['v2.1.0', 'containerd', true, false],
    ['v2.10.0-rc.1', 'containerd', true, true],
    ['1.30.4', 'cri-o', false, false],
    ['1.33.0', 'cri-o', true, true],
  ])('of %s of %s', (number, name, imageVolumes, stopSignals) => {
    expect(featuresOf(version(number, name), status(undefined), { hostPorts: true })).toMatchObject({
      imageVolumes,
      stopSignals,
    });
  });

  it('of handlers, by name', () => {
    const features = { recursiveReadOnly: true, userNamespaces: false };
    const handlers = [
      { name: 'runc', features },
      { name: '', features: undefined },
    ];
    expect(handlersOf({ ...status(undefined), handlers })).toEqual([
      { name: '', recursiveReadOnlyMounts: false, userNamespaces: false },
      { name: 'runc', recursiveReadOnlyMounts: true, userNamespaces: false },
    ]);
  });

  it.each([
    ['1.6.20~ds1', '1.6.20'],
    ['v2.0.0', '2.0.0'],
    ['v2.1.0-beta.0', '2.1.0-beta.0'],
  ])('have the version %s as %s', (text, plain) => {
    expect(plainVersion(text)).toBe(plain);
  });
});
