import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import type { ContainerConfig } from '../runtime/container-config.ts';
import { mountPathProblem } from './mount-paths.ts';

interface Given {
  readonly from?: string;
  readonly privileged?: boolean;
  readonly as?: 'mounts' | 'devices';
}

function problem(containerPath: string, { from = '/node/volume', privileged = false, as = 'mounts' }: Given = {}) {
  const config = { mounts: [], devices: [], [as]: [{ hostPath: from, containerPath }], security: { privileged } };
  return mountPathProblem(config as unknown as ContainerConfig);
}

it.each([
  ...['/data', '/data/', '//data/./x', '/etc/hosts', '/etc/pod-info', '/..data', '/a..b', '/processes', '/system'],
  ...['/dev/termination-log', '/dev/termination-custom-log', '/dev/shm', '/dev/shm/x', '/dev/mqueue', '/dev/hugepages'],
  ...['/dev/log', '/device', '/home/proc', '/host/proc', '/host/sys', '/host/dev'],
])('mounts at %s', (path) => {
  expect(problem(path)).toBeUndefined();
});

it.each([
  ...['', 'data', '/', '//', '/.', '/..', '/../../etc', '/data/..', '/data/../proc', '../x'],
  ...['/proc', '/proc/', '//proc', '/./proc', '/proc/self/cwd/x', '/proc/sys/kernel/core_pattern', '/proc/1/root'],
  ...['/sys', '/sys/fs/cgroup', '/sys/firmware', '/dev', '/dev/', '/dev/.', '//dev', '/dev/null', '/dev/pts'],
  ...['/dev/pts/0', '/dev/fd', '/dev/fd/3', '/dev/console', '/dev//null', '/dev/./ptmx', '/dev/stdout'],
])('does not mount at %j', (path) => {
  expect(problem(path)).toContain(`cannot mount at ${path}: `);
  expect(problem(path, { privileged: true })).toBeDefined();
});

it.each([
  ['/dev', '/dev'],
  ['/dev/pts', '/dev/pts'],
  ['/sys', '/sys'],
  ['/sys/fs/bpf', '/sys/fs/bpf'],
])('mounts %s of the node at %s of privileged containers only', (from, path) => {
  expect(problem(path, { from, privileged: true })).toBeUndefined();
  expect(problem(path, { from })).toBeDefined();
  expect(problem(path, { from: `/node${from}`, privileged: true })).toBeDefined();
  expect(problem(path, { from: `${from}/../../../../etc`, privileged: true })).toBeDefined();
});

it('never mounts /proc of the node at /proc', () => {
  expect(problem('/proc', { from: '/proc', privileged: true })).toBeDefined();
  expect(problem('/host/proc', { from: '/proc' })).toBeUndefined();
});

it('has the same rules for devices', () => {
  expect(problem('/dev/xvda', { as: 'devices' })).toBeUndefined();
  expect(problem('/dev/null', { as: 'devices' })).toBeDefined();
  expect(problem('/proc/x', { as: 'devices' })).toBeDefined();
});

it('is not misled by any spelling of /proc, /sys and /dev', () => {
  const filler = fc.array(fc.constantFrom('/', '/.', '//', '/./'), { maxLength: 4 }).map((parts) => parts.join(''));
  const reserved = fc.constantFrom('proc', 'sys', 'dev', 'dev/pts', 'proc/self/cwd');
  forAll(filler, reserved, filler, fc.string(), (before, name, after, rest) => {
    const path = `${before}/${name}${after}${name === 'dev' ? '' : `/${rest}`}`;
    expect(problem(path)).toBeDefined();
  });
});
