import { expect, test } from 'vitest';
import { containerErrors, specErrors } from '../../../../test/support/kinds/test-pod.ts';

const id = 'must be between 0 and 2147483647, inclusive';

test.each<[object, ...string[]]>([
  [{ runAsUser: 0, runAsNonRoot: false, privileged: true, capabilities: { add: ['NET_ADMIN'] } }],
  [{ runAsUser: -1 }, `.runAsUser: Invalid value: -1: ${id}`],
  [{ procMount: 'x' }, '.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"'],
  [{ procMount: 'Unmasked' }, '.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
  [
    { privileged: true, allowPrivilegeEscalation: false },
    ': Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to ' +
      'false and `privileged` to true',
  ],
  [{ seccompProfile: {} }, '.seccompProfile.type: Required value: type is required when seccompProfile is set'],
  [
    { seccompProfile: { type: 'Localhost' } },
    '.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
  ],
  [
    { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } },
    `.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`,
  ],
  [
    { appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' } },
    '.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost',
  ],
  [
    { appArmorProfile: { type: 'Localhost', localhostProfile: ' x' } },
    '.appArmorProfile.localhostProfile: Invalid value: " x": must not be padded with whitespace',
  ],
  [
    { windowsOptions: { runAsUserName: 'a\\b\\c' } },
    '.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
  ],
  [
    { windowsOptions: { runAsUserName: 'ADMIN\\...' } },
    '.windowsOptions.runAsUserName: Invalid value: "ADMIN\\\\...": runAsUserName\'s User cannot contain only periods ' +
      'or spaces',
  ],
])('of a container: %j', (securityContext, ...errors) => {
  expect(containerErrors({ securityContext })).toEqual(errors.map((error) => `securityContext${error}`));
});

test.each<[object, object, ...string[]]>([
  [{ fsGroup: 1, supplementalGroups: [1, 2], sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] }, {}],
  [{ supplementalGroups: [-1] }, {}, `supplementalGroups[0]: Invalid value: -1: ${id}`],
  [
    { supplementalGroupsPolicy: 'x' },
    {},
    'supplementalGroupsPolicy: Unsupported value: "x": supported values: "Merge", "Strict"',
  ],
  [
    { fsGroupChangePolicy: 'x' },
    {},
    'fsGroupChangePolicy: Unsupported value: "x": supported values: "Always", "OnRootMismatch"',
  ],
  [
    { seLinuxChangePolicy: 'x' },
    {},
    'seLinuxChangePolicy: Unsupported value: "x": supported values: "MountOption", "Recursive"',
  ],
  [
    {
      sysctls: [
        { name: 'net.core.somaxconn', value: '1' },
        { name: 'net.core.somaxconn', value: '1' },
        { name: 'A', value: '' },
        { value: '' },
      ],
    },
    {},
    'sysctls[1].name: Duplicate value: "net.core.somaxconn"',
    'sysctls[2].name: Invalid value: "A": must have at most 253 characters and match regex ' +
      '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    'sysctls[3].name: Required value',
  ],
  [
    { sysctls: [{ name: 'net/core/somaxconn', value: '1' }] },
    { hostNetwork: true },
    `sysctls[0].name: Invalid value: "net/core/somaxconn": may not be specified when 'hostNetwork' is true`,
  ],
])('of a pod: %j with %j', (securityContext, spec, ...errors) => {
  expect(specErrors({ securityContext, ...spec })).toEqual(errors.map((error) => `spec.securityContext.${error}`));
});
