import { describe, expect, it } from 'vitest';
import { seenContainer, seenPod } from '../../../../test/support/node/seen-pod.ts';
import { containerSecurity, type ImageUser, sandboxSecurity } from './security.ts';
import { sysctlsOf } from './sysctls.ts';

interface Setting {
  readonly pod?: object;
  readonly own?: object;
  readonly imageUser?: ImageUser;
  readonly spec?: object;
  readonly annotations?: object;
  readonly target?: string;
}

function securityOf({ pod, own, imageUser, spec, annotations, target }: Setting) {
  const seen = seenPod({ securityContext: pod, ...spec }, { annotations });
  return containerSecurity(seen, seenContainer({ securityContext: own }), {
    imageUser,
    seccompDirectory: '/var/lib/agent/seccomp',
    targetContainerId: target,
  });
}

describe('the user of a container', () => {
  it.each([
    [{}, { runAsUser: undefined, runAsUsername: undefined, runAsGroup: undefined }],
    [{ imageUser: 7 }, { runAsUser: 7, runAsUsername: undefined }],
    [{ imageUser: 'www' }, { runAsUser: undefined, runAsUsername: 'www' }],
    [
      { imageUser: 'www', pod: { runAsUser: 5, runAsGroup: 6 } },
      { runAsUser: 5, runAsUsername: undefined, runAsGroup: 6 },
    ],
    [
      { own: { runAsUser: 0, runAsGroup: 0 }, pod: { runAsUser: 5, runAsGroup: 6 } },
      { runAsUser: 0, runAsGroup: 0 },
    ],
  ])('of %j', (setting, expected) => {
    expect(securityOf(setting)).toMatchObject(expected);
  });

  const where = '(pod: "web_shop(u-1)", container: c)';
  it.each([
    [{ pod: { runAsNonRoot: true, runAsUser: 0 } }, `container's runAsUser breaks non-root policy ${where}`],
    [{ pod: { runAsNonRoot: true } }, `container has runAsNonRoot and image will run as root ${where}`],
    [{ own: { runAsNonRoot: true }, imageUser: 0 }, `container has runAsNonRoot and image will run as root ${where}`],
    [
      { own: { runAsNonRoot: true }, imageUser: 'www' },
      `container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root ${where}`,
    ],
  ])('must not be root with %j', (setting, message) => {
    expect(() => securityOf(setting)).toThrow(message);
  });

  it.each([
    { pod: { runAsNonRoot: true }, own: { runAsNonRoot: false } },
    { pod: { runAsNonRoot: true, runAsUser: 0 }, own: { runAsUser: 1 } },
    { pod: { runAsNonRoot: true }, imageUser: 1 },
  ])('may be what it is with %j', (setting) => {
    expect(() => securityOf(setting)).not.toThrow();
  });

  it('has the groups of the pod', () => {
    expect(securityOf({ pod: { fsGroup: 9, supplementalGroups: [1, 2] } })).toMatchObject({
      supplementalGroups: [9, 1, 2],
      mergesImageGroups: true,
    });
    expect(securityOf({ pod: { supplementalGroupsPolicy: 'Strict' } }).mergesImageGroups).toBe(false);
  });
});

it('takes what the container is allowed', () => {
  expect(securityOf({})).toMatchObject({
    privileged: false,
    addCapabilities: [],
    dropCapabilities: [],
    readOnlyRoot: false,
    noNewPrivileges: false,
    selinux: undefined,
  });
  const own = {
    privileged: true,
    capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    seLinuxOptions: { level: 's0' },
  };
  expect(securityOf({ own })).toMatchObject({
    privileged: true,
    addCapabilities: ['NET_ADMIN'],
    dropCapabilities: ['ALL'],
    readOnlyRoot: true,
    noNewPrivileges: true,
    selinux: { user: '', role: '', type: '', level: 's0' },
  });
});

it('hides parts of /proc unless it is unmasked', () => {
  const masked = securityOf({});
  expect(masked.maskedPaths).toContain('/proc/kcore');
  expect(masked.readOnlyPaths).toContain('/proc/sys');
  expect(securityOf({ own: { procMount: 'Unmasked' } })).toMatchObject({ maskedPaths: [], readOnlyPaths: [] });
});

it.each([
  [{}, { type: 'unset' }],
  [{ pod: { seccompProfile: { type: 'RuntimeDefault' } } }, { type: 'runtime-default' }],
  [
    { pod: { seccompProfile: { type: 'RuntimeDefault' } }, own: { seccompProfile: { type: 'Unconfined' } } },
    { type: 'unconfined' },
  ],
  [
    { own: { seccompProfile: { type: 'Localhost', localhostProfile: 'my/p.json' } } },
    { type: 'localhost', file: '/var/lib/agent/seccomp/my/p.json' },
  ],
])('profiles of seccomp with %j', (setting, expected) => {
  expect(securityOf(setting).seccomp).toEqual(expected);
});

const annotation = (value: string) => ({ 'container.apparmor.security.beta.kubernetes.io/c': value });
it.each([
  [{}, undefined],
  [{ pod: { appArmorProfile: { type: 'RuntimeDefault' } } }, { type: 'runtime-default' }],
  [{ own: { appArmorProfile: { type: 'Unconfined' } } }, { type: 'unconfined' }],
  [{ own: { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } } }, { type: 'localhost', profile: 'p' }],
  [{ annotations: annotation('localhost/q') }, { type: 'localhost', profile: 'q' }],
  [{ annotations: annotation('runtime/default') }, { type: 'runtime-default' }],
  // The container's field wins over the annotation, and that over the pod's field.
  [
    { annotations: annotation('unconfined'), pod: { appArmorProfile: { type: 'RuntimeDefault' } } },
    { type: 'unconfined' },
  ],
  [
    { annotations: annotation('unconfined'), own: { appArmorProfile: { type: 'RuntimeDefault' } } },
    { type: 'runtime-default' },
  ],
])('profiles of AppArmor with %j', (setting, expected) => {
  expect(securityOf(setting).appArmor).toEqual(expected);
});

it.each([
  [{}, 'container'],
  [{ spec: { shareProcessNamespace: true } }, 'pod'],
  [{ spec: { hostPID: true } }, 'node'],
  [{ target: 'id-1' }, { containerId: 'id-1' }],
  [{ target: 'id-1', spec: { shareProcessNamespace: true } }, 'pod'],
])('has the processes of %j', (setting, pid) => {
  expect(securityOf(setting).pid).toEqual(pid);
});

it('gives the sandbox the settings of the pod, always confined', () => {
  const containers = [seenContainer(), seenContainer({ name: 'd', securityContext: { privileged: true } })];
  const securityContext = { runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4] };
  expect(sandboxSecurity(seenPod({ containers, securityContext }))).toEqual({
    privileged: true,
    runAsUser: 1,
    runAsGroup: 2,
    supplementalGroups: [3, 4],
    seccomp: { type: 'runtime-default' },
    selinux: undefined,
  });
});

it('sets sysctls by name, with dots', () => {
  const pod = seenPod({ securityContext: { sysctls: [{ name: 'net/ipv4/conf/eth0.5/x', value: '1' }] } });
  expect(sysctlsOf(pod)).toEqual({ 'net.ipv4.conf.eth0/5.x': '1' });
  expect(sysctlsOf(seenPod())).toEqual({});
});
