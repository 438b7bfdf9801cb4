import { expect, test } from 'vitest';
import { container, specErrors } from '../../../../test/support/kinds/test-pod.ts';

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test.each<[object, ...string[]]>([
  [{ containers: [] }, 'containers: Required value'],
  [
    { restartPolicy: 'Perhaps' },
    'restartPolicy: Unsupported value: "Perhaps": supported values: "Always", "OnFailure", "Never"',
  ],
  [
    { dnsPolicy: 'Perhaps' },
    'dnsPolicy: Unsupported value: "Perhaps": supported values: "ClusterFirstWithHostNet", "ClusterFirst", ' +
      '"Default", "None"',
  ],
  [
    { terminationGracePeriodSeconds: -1 },
    'terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0',
  ],
  [{ terminationGracePeriodSeconds: 0 }],
  [
    { activeDeadlineSeconds: 0 },
    'activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
  ],
  [
    { activeDeadlineSeconds: 2 ** 31 },
    'activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive',
  ],
  [{ serviceAccountName: 'A' }, `serviceAccountName: Invalid value: "A": ${subdomain}`],
  [{ nodeName: 'A' }, `nodeName: Invalid value: "A": ${subdomain}`],
  [{ runtimeClassName: 'A' }, `runtimeClassName: Invalid value: "A": ${subdomain}`],
  [{ hostname: 'a.b' }, 'hostname: Invalid value: "a.b": must not contain dots'],
  [
    { preemptionPolicy: 'x' },
    'preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
  ],
  [{ os: {} }, 'os.name: Required value'],
  [{ os: { name: 'plan9' } }, 'os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, 'schedulingGates[1]: Duplicate value: "a"'],
  [
    { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
    'nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ],
  [{ schedulingGroup: {} }, 'schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`'],
  [{ ephemeralContainers: [{ name: 'e', image: 'x' }] }, 'ephemeralContainers: Forbidden: cannot be set on create'],
])('a pod with %j', (spec, ...errors) => {
  expect(specErrors(spec)).toEqual(errors.map((error) => `spec.${error}`));
});

test.each([
  [{ ip: '1.2.3.4', hostnames: ['foo.local'] }, {}, []],
  [
    { ip: 'x' },
    {},
    ['hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [{ ip: '1.2.3.4', hostnames: ['A'] }, {}, [`hostAliases[0].hostnames[0]: Invalid value: "A": ${subdomain}`]],
  [{ ip: '1.2.3.4' }, { hostNetwork: true }, ['hostAliases: Forbidden: may not be set when `hostNetwork` is true']],
])('host alias %j with %j', (alias, spec, errors) => {
  expect(specErrors({ hostAliases: [alias], ...spec })).toEqual(errors.map((error) => `spec.${error}`));
});

test('a port on the network of the node is one and the same', () => {
  const ports = [{ containerPort: 80, hostPort: 81 }];
  expect(specErrors({ hostNetwork: true, containers: [{ ...container, ports }] })).toEqual([
    'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
  ]);
});

test.each<[string, any, ...string[]]>([
  ['None', undefined, 'dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  [
    'None',
    { searches: ['a'] },
    'dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
  ],
  ['None', { nameservers: ['1.1.1.1'], searches: ['.', '_a.b.', 'c'], options: [{ name: 'ndots', value: '2' }] }],
  [
    'ClusterFirst',
    { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', 'x'], options: [{ value: '1' }] },
    'dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","x"]: must not have more than 3 nameservers',
    'dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'dnsConfig.options[0]: Required value: must not be empty',
  ],
])('DNS policy %s with %j', (dnsPolicy, dnsConfig, ...errors) => {
  expect(specErrors({ dnsPolicy, dnsConfig })).toEqual(errors.map((error) => `spec.${error}`));
});

test('a pod can have 32 search domains of 2048 characters', () => {
  const searches = Array.from({ length: 33 }, () => 'a'.repeat(63));
  expect(specErrors({ dnsConfig: { searches } }).map((error) => error.slice(error.lastIndexOf(': ')))).toEqual([
    ': must not have more than 32 search paths',
    ': must not have more than 2048 characters (including spaces) in the search list',
  ]);
});

test.each<[object, ...string[]]>([
  [
    { hostPID: true, shareProcessNamespace: true },
    'securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
  ],
  [
    { hostUsers: false, hostNetwork: true, hostIPC: true },
    'hostNetwork: Forbidden: when `hostUsers` is false',
    'HostIPC: Forbidden: when `hostUsers` is false',
  ],
  [
    { hostnameOverride: 'a', hostNetwork: true, setHostnameAsFQDN: true },
    'hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
    'hostnameOverride: Forbidden: may not be specified when hostNetwork is true',
  ],
  [{ hostnameOverride: 'a'.repeat(63).concat('.b') }, 'hostnameOverride: Too long: may not be more than 64 bytes'],
  [
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
    'securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
  ],
  [
    { os: { name: 'windows' }, hostPID: true, securityContext: { runAsUser: 1 } },
    'securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    'hostPID: Forbidden: cannot be set for a windows pod',
  ],
  [
    { securityContext: { windowsOptions: { hostProcess: true } } },
    'hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
  ],
])('parts that do not go together: %j', (spec, ...errors) => {
  expect(specErrors(spec)).toEqual(errors.map((error) => `spec.${error}`));
});

test.each([
  [
    { 'kubernetes.io/config.mirror': 'x' },
    '[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  ],
  [
    { 'controller.kubernetes.io/pod-deletion-cost': '010' },
    '[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "010": must be a 32bit integer',
  ],
  [
    { 'seccomp.security.alpha.kubernetes.io/pod': 'x' },
    '.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile',
  ],
  [
    { 'container.apparmor.security.beta.kubernetes.io/none': 'unconfined' },
    '[container.apparmor.security.beta.kubernetes.io/none]: Invalid value: "none": container not found',
  ],
])('annotations %j', (annotations, error) => {
  expect(specErrors({}, { annotations })).toEqual([`metadata.annotations${error}`]);
});

test('a profile in an annotation agrees with the field', () => {
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
  expect(specErrors({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, { annotations })).toEqual([
    'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
  ]);
});
