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

it('rejects users that the image does not have, and nothing to run', () => {
  expect(() => identityOf(config({}), { ...IMAGE, user: 'who' }, USERS, 'pod')).toThrow(/unable to find user who/);
  expect(() => identityOf(config({}), { ...IMAGE, entrypoint: [], args: [] }, USERS, 'pod')).toThrow(/no command/);
});

it('takes numbers for users and groups, whatever the image calls by them', () => {
  const users = { passwd: '7:x:0:0::/:\nroot:x:0:0::/:\nuser:x:7:8::/:\n', group: '8:x:0:\nlog:x:9:user\n' };
  const asUser = config({ security: { ...SECURITY, runAsUser: 7 } });
  expect(identityOf(asUser, IMAGE, users, 'pod')).toMatchObject({ uid: 7, gid: 8, groups: [8, 9] });
  const ofImage = identityOf(config({}), { ...IMAGE, user: '7:8' }, users, 'pod');
  expect(ofImage).toMatchObject({ uid: 7, gid: 8 });
});

it('rejects users and groups of the image whose numbers are none', () => {
  for (const id of ['', 'x', '-1', '1e1', '0x7', ' 7', '1.5', '4294967296', '99999999999999999999']) {
    const passwd = { ...USERS, passwd: `web:x:${id}:34::/:\n` };
    expect(() => identityOf(config({}), IMAGE, passwd, 'pod'), id).toThrow(/expected the id.*passwd file.*number/);
    const gid = { ...USERS, passwd: `web:x:33:${id}::/:\n` };
    expect(() => identityOf(config({}), IMAGE, gid, 'pod'), id).toThrow(/expected the id.*passwd file.*number/);
    const group = { ...USERS, group: `log:x:${id}:web\n` };
    expect(() => identityOf(config({}), IMAGE, group, 'pod'), id).toThrow(/expected the id.*group file.*number/);
  }
  for (const user of ['4294967296', '7:4294967296'])
    expect(() => identityOf(config({}), { ...IMAGE, user }, USERS, 'pod'), user).toThrow(/number/);
});
