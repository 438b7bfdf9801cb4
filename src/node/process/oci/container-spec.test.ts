import { expect, it } from 'vitest';
import type { ContainerConfig, ContainerSecurity, Mount } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { containerSpec } from './container-spec.ts';
import type { ContainerInput } from './input.ts';
import { sandboxSpec } from './sandbox-spec.ts';

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
  maskedPaths: ['/proc/kcore'],
  readOnlyPaths: ['/proc/sys'],
  pid: 'container',
};
const MACHINE = {
  architecture: 'arm64',
  capabilities: new Set(['CHOWN', 'NET_RAW', 'SETUID', 'SYS_ADMIN', 'SYS_PTRACE', 'MKNOD']),
  minOomScoreAdj: 0,
};
const SANDBOX = {
  hostname: 'pod',
  namespaces: { network: 'pod', pid: 'container', ipc: 'pod', user: undefined },
  sysctls: {},
} as unknown as SandboxConfig;
const RESOURCES = { oomScoreAdj: -998 } as ContainerConfig['resources'];
const MOUNT: Mount = {
  ...{ hostPath: '', containerPath: '', readOnly: false, recursiveReadOnly: false, propagation: 'private' },
  ...{ selinuxRelabel: false, idMappings: undefined, image: undefined },
};

function specOf(security: Partial<ContainerSecurity> = {}, changes: Partial<ContainerInput> = {}, config: object = {}) {
  return containerSpec({
    config: {
      ...{ mounts: [], devices: [], tty: false, resources: RESOURCES, ...config },
      security: { ...SECURITY, ...security },
    } as unknown as ContainerConfig,
    sandbox: SANDBOX,
    identity: { uid: 0, gid: 0, groups: [], env: ['A=b\0c'], workingDirectory: '/', command: ['/x', 'y\0z'] },
    root: '/run/root',
    isHostImage: false,
    namespaces: '/proc/42/ns',
    processTarget: undefined,
    cgroup: '/pod/c/inner',
    devices: [],
    gate: '/c/gate',
    devDirectory: '/run/dev',
    files: { resolvConf: '/s/resolv.conf', hostname: '/s/hostname', hosts: '/s/hosts', sharedMemory: '/s/shm' },
    imageDirectories: new Map(),
    hidden: [],
    mountFlags: [{ point: '/v', flags: ['nosuid', 'noexec'], isShared: false }],
    machine: MACHINE,
    ...changes,
  });
}

const allowed = (spec: ReturnType<typeof specOf>, name: string) =>
  spec.linux.seccomp?.syscalls.filter(({ names, action }) => names.includes(name) && action === 'SCMP_ACT_ALLOW') ?? [];

it('keeps values of a pod apart, whatever they contain', () => {
  const { process } = JSON.parse(JSON.stringify(specOf()));
  expect(process).toMatchObject({ args: ['/x', 'y\0z'], env: ['A=b\0c'] });
});

it('gives no right to make device files or forged packets, unless a pod adds it', () => {
  expect(specOf().process.capabilities.bounding).toEqual(['CAP_CHOWN', 'CAP_SETUID']);
  expect(specOf({ addCapabilities: ['CAP_NET_RAW'] }).process.capabilities.effective).toContain('CAP_NET_RAW');
  expect(specOf({ dropCapabilities: ['ALL'] }).process.capabilities.bounding).toEqual([]);
  expect(specOf({ addCapabilities: ['ALL'], dropCapabilities: ['CHOWN'] }).process.capabilities.bounding).not.toContain(
    'CAP_CHOWN',
  );
});

it('filters system calls unless a container opts out by name or is privileged', () => {
  expect(specOf().linux.seccomp?.defaultAction).toBe('SCMP_ACT_ERRNO');
  expect(specOf({ seccomp: { type: 'runtime-default' } }).linux.seccomp).toBeDefined();
  expect(specOf({ seccomp: { type: 'unconfined' } }).linux.seccomp).toBeUndefined();
  expect(specOf({ privileged: true }).linux.seccomp).toBeUndefined();
});

it('allows no namespaces, tracing or io_uring without the capability for it', () => {
  const plain = specOf();
  for (const name of ['unshare', 'setns', 'mount', 'ptrace', 'process_vm_readv', 'io_uring_setup', 'bpf', 'keyctl'])
    expect(allowed(plain, name)).toEqual([]);
  expect(allowed(plain, 'clone')).toEqual([
    expect.objectContaining({ args: [{ index: 0, value: 0x7e020000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] }),
  ]);
  expect(plain.linux.seccomp?.syscalls).toContainEqual({ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 });
  expect(allowed(specOf({ addCapabilities: ['SYS_PTRACE'] }), 'ptrace')).not.toEqual([]);
  expect(allowed(specOf({ addCapabilities: ['SYS_ADMIN'] }), 'clone3')).not.toEqual([]);
});

it('denies every device but those of the pod', () => {
  const device = { path: '/dev/x', type: 'c', major: 1, minor: 2, fileMode: 0o600 } as const;
  expect(specOf({}, { devices: [device] }).linux.resources?.devices).toEqual([
    { allow: false, access: 'rwm' },
    { allow: true, type: 'c', major: 1, minor: 2, access: 'rw' },
  ]);
  expect(specOf({ privileged: true }).linux.resources?.devices).toEqual([{ allow: true, access: 'rwm' }]);
});

it('joins the namespaces of the pod, and has its own files, processes and view of cgroups', () => {
  expect(specOf().linux.namespaces).toEqual([
    { type: 'mount' },
    { type: 'cgroup' },
    { type: 'network', path: '/proc/42/ns/net' },
    { type: 'uts', path: '/proc/42/ns/uts' },
    { type: 'ipc', path: '/proc/42/ns/ipc' },
    { type: 'pid' },
  ]);
});

it('maps users where the pod has a range of its own', () => {
  const user = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const sandbox = { ...SANDBOX, namespaces: { ...SANDBOX.namespaces, user } };
  const { linux } = specOf({}, { sandbox });
  expect(linux.namespaces).toContainEqual({ type: 'user', path: '/proc/42/ns/user' });
  expect(linux.uidMappings).toEqual([{ containerID: 0, hostID: 65_536, size: 65_536 }]);
  const held = sandboxSpec({ config: sandbox, root: '/pause', cgroup: undefined, machine: MACHINE });
  expect(held?.linux.namespaces).toContainEqual({ type: 'user' });
});

it('mounts volumes without devices, outer ones first', () => {
  const mounts = [
    { ...MOUNT, hostPath: '/v/b', containerPath: '/a/b', readOnly: true },
    { ...MOUNT, hostPath: '/v/a', containerPath: '/a' },
  ];
  const spec = specOf({}, {}, { mounts });
  expect(spec.mounts.slice(-2)).toEqual([
    { destination: '/a', type: 'bind', source: '/v/a', options: ['rbind', 'rw', 'nodev', 'rprivate'] },
    { destination: '/a/b', type: 'bind', source: '/v/b', options: ['rbind', 'ro', 'nodev', 'rprivate'] },
  ]);
});

it('shares the mounts of the node only with a container that mounts for it, and of these no more than its volume', () => {
  const propagations = (propagation: Mount['propagation']) => {
    const { linux, mounts } = specOf(
      { privileged: true },
      {},
      { mounts: [{ ...MOUNT, hostPath: '/v', containerPath: '/v', propagation }] },
    );
    const shared = mounts.filter(({ options }) => options.some((option) => /shared/.test(option)));
    const bound = mounts.filter(({ type }) => type === 'bind');
    const open = bound.filter(({ options }) => !options.some((option) => /^r(?:private|slave)$/.test(option)));
    return [linux.rootfsPropagation, ...[shared, open].map((each) => each.map(({ destination }) => destination))];
  };
  expect(propagations('bidirectional')).toEqual(['rshared', ['/v'], ['/v']]);
  expect(propagations('host-to-container')).toEqual(['rslave', [], []]);
});

it('keeps the flags of what a volume is on, which a user namespace cannot take away', () => {
  const user = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const sandbox = { ...SANDBOX, namespaces: { ...SANDBOX.namespaces, user } };
  const mounts = [{ ...MOUNT, hostPath: '/v/a', containerPath: '/a', readOnly: true }];
  expect(specOf({}, { sandbox }, { mounts }).mounts.at(-1)?.options).toEqual([
    'rbind',
    'ro',
    'nodev',
    'rprivate',
    'nosuid',
    'noexec',
  ]);
});

it('hides paths of the node', () => {
  expect(specOf({}, { hidden: ['/root/.quarterdeck'] }).linux.maskedPaths).toEqual([
    '/proc/kcore',
    '/root/.quarterdeck',
  ]);
});

it('asks for no lower score than this process may set', () => {
  expect(specOf().process.oomScoreAdj).toBe(0);
});

it('needs nothing to hold for a pod with all namespaces of the node', () => {
  const namespaces = { network: 'node', pid: 'node', ipc: 'node', user: undefined } as const;
  const config = { ...SANDBOX, namespaces };
  expect(sandboxSpec({ config, root: '/pause', cgroup: undefined, machine: MACHINE })).toBeUndefined();
});
