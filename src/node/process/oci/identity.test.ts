import { expect, it } from 'vitest';
import type { ContainerConfig, ContainerSecurity } from '../../runtime/container-config.ts';
import { identityOf } from './identity.ts';

const SECURITY: ContainerSecurity = {
  privileged: false,
  runAsUser: undefined,
  runAsUsername: undefined,
  runAsGroup: undefined,
  supplementalGroups: [],
  mergesImageGroups: true,
  addCapabilities: [],
  dropCapabilities: [],
  readOnlyRoot: false,
  noNewPrivileges: false,
  seccomp: undefined,
  appArmor: undefined,
  selinux: undefined,
  maskedPaths: [],
  readOnlyPaths: [],
  pid: 'container',
};
const IMAGE = {
  user: 'web',
  env: ['PATH=/bin', 'A=image'],
  entrypoint: ['/entry'],
  args: ['arg'],
  workingDirectory: '/work',
  stopSignal: undefined,
  volumes: [],
  labels: {},
};
const USERS = {
  passwd: 'root:x:0:0::/root:/bin/sh\nweb:x:33:34::/srv:/bin/sh\n',
  group: 'root:x:0:\nlog:x:50:web,x\n',
};

function config(changes: Partial<ContainerConfig>): ContainerConfig {
  return { env: [], security: SECURITY, tty: false, ...changes } as ContainerConfig;
}

it('takes the user, groups and home of the image', () => {
  expect(identityOf(config({}), IMAGE, USERS, 'pod')).toEqual({
    uid: 33,
    gid: 34,
    groups: [34, 50],
    env: ['PATH=/bin', 'A=image', 'HOSTNAME=pod', 'HOME=/srv'],
    workingDirectory: '/work',
    command: ['/entry', 'arg'],
  });
});

it('prefers what the container says', () => {
  const changes = {
    command: ['/mine'],
    env: [{ name: 'A', value: 'own' }],
    workingDirectory: '/tmp',
    security: { ...SECURITY, runAsUser: 7, runAsGroup: 8, supplementalGroups: [9], mergesImageGroups: false },
  };
  expect(identityOf(config(changes), IMAGE, USERS, 'pod')).toEqual({
    uid: 7,
    gid: 8,
    groups: [8, 9],
    env: ['PATH=/bin', 'A=own', 'HOSTNAME=pod', 'HOME=/'],
    workingDirectory: '/tmp',
    command: ['/mine'],
  });
});

it('refuses users that the image does not have, and nothing to run', () => {
  expect(() => identityOf(config({}), { ...IMAGE, user: 'who' }, USERS, 'pod')).toThrow(/unable to find user who/);
  expect(() => identityOf(config({}), { ...IMAGE, entrypoint: [], args: [] }, USERS, 'pod')).toThrow(/no command/);
});
