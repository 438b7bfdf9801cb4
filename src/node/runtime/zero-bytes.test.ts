import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import type { ContainerConfig } from './container-config.ts';
import type { SandboxConfig } from './sandbox-config.ts';
import { checkCommand, placeOfZeroByte, zeroByteInContainer, zeroByteInSandbox } from './zero-bytes.ts';

const container = (changes: object = {}) =>
  ({
    ...{ name: 'c', image: 'x', command: ['sh', '-c', 'true'], args: undefined, workingDirectory: '/' },
    ...{ env: [{ name: 'A', value: '1' }], mounts: [{ hostPath: '/v', containerPath: '/data' }], devices: [] },
    ...{ labels: {}, annotations: {}, security: { runAsUsername: 'web' } },
    ...changes,
  }) as unknown as ContainerConfig;

const sandbox = (changes: object = {}) =>
  ({
    hostname: 'web',
    sysctls: {},
    dns: { servers: [] },
    labels: {},
    annotations: {},
    ...changes,
  }) as unknown as SandboxConfig;

it.each([
  ['a value', { env: [{ name: 'Z', value: 'x\0y' }] }, 'environment variable Z contains a zero byte'],
  ['a name', { env: [{ name: 'Z\0', value: '' }] }, 'environment variable Z\\0 contains a zero byte'],
  ['the command', { command: ['sh', 'a\0'] }, 'command[1] contains a zero byte'],
  ['an argument', { args: ['\0'] }, 'args[0] contains a zero byte'],
  ['the working directory', { workingDirectory: '/\0' }, 'workingDirectory contains a zero byte'],
  [
    'a mount path',
    { mounts: [{ hostPath: '/v', containerPath: '/x\0/etc' }] },
    'mounts[0].containerPath contains a zero byte',
  ],
  ['the user of the image', { security: { runAsUsername: 'a\0' } }, 'security.runAsUsername contains a zero byte'],
])('a container with a zero byte in %s is found', (_, changes, message) => {
  expect(zeroByteInContainer(container(changes))).toBe(message);
});

it('a container may have zero bytes in labels and annotations only', () => {
  expect(zeroByteInContainer(container())).toBeUndefined();
  expect(zeroByteInContainer(container({ annotations: { a: '\0' }, labels: { a: '\0' } }))).toBeUndefined();
});

it.each([
  [{ hostname: 'a\0' }, 'hostname contains a zero byte'],
  [{ sysctls: { 'a\0b': '1' } }, 'sysctls.a\\0b contains a zero byte'],
  [{ sysctls: { a: '\0' } }, 'sysctls.a contains a zero byte'],
  [{ dns: { servers: ['\0'] } }, 'dns.servers[0] contains a zero byte'],
])('a sandbox with %j is found', (changes, message) => {
  expect(zeroByteInSandbox(sandbox(changes))).toBe(message);
});

it('a sandbox may have zero bytes in annotations', () => {
  expect(zeroByteInSandbox(sandbox({ annotations: { a: '\0' } }))).toBeUndefined();
});

it('rejects commands', () => {
  expect(() => checkCommand(['ls', '-l'])).not.toThrow();
  expect(() => checkCommand(['ls', 'a\0b'])).toThrow('command[1] contains a zero byte');
});

it('is found wherever it stands, and nothing else is', () => {
  forAll(fc.jsonValue(), (tree) => {
    expect(placeOfZeroByte(tree) !== undefined || (typeof tree === 'string' && tree.includes('\0'))).toBe(
      JSON.stringify(tree).replaceAll('\\\\', '').includes('\\u0000'),
    );
  });
});
