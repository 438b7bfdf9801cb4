import { expect, test } from 'vitest';
import { container, containerErrors, specErrors } from '../../../../test/support/kinds/test-pod.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test('a plain container is fine', () => {
  expect(containerErrors({})).toEqual([]);
});

test.each([
  [{ name: '' }, 'name: Required value'],
  [{ name: 'Main' }, `name: Invalid value: "Main": ${label}`],
  [{ name: 'a.b' }, 'name: Invalid value: "a.b": must not contain dots'],
  [{ image: '' }, 'image: Required value'],
  [{ image: ' nginx' }, 'image: Invalid value: " nginx": must not have leading or trailing whitespace'],
  [
    { imagePullPolicy: 'Sometimes' },
    'imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
  ],
  [
    { terminationMessagePolicy: 'x' },
    'terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"',
  ],
  [{ tty: true }, 'tty: Invalid value: true: may only be true when `stdin` is true'],
  [{ restartPolicy: 'x' }, 'restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"'],
])('a container with %j is not', (fields, error) => {
  expect(containerErrors(fields)).toEqual([error]);
});

test('a terminal with input is fine', () => {
  expect(containerErrors({ tty: true, stdin: true, stdinOnce: true })).toEqual([]);
});

test.each<[object, ...string[]]>([
  [{ containerPort: 80, name: 'http' }],
  [{}, 'containerPort: Required value'],
  [{ containerPort: 70000 }, 'containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  [{ containerPort: 1, hostPort: -1 }, 'hostPort: Invalid value: -1: must be between 1 and 65535, inclusive'],
  [{ containerPort: 1, protocol: 'tcp' }, 'protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
  [
    { containerPort: 1, name: 'HTTP' },
    'name: Invalid value: "HTTP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'name: Invalid value: "HTTP": must contain at least one letter (a-z)',
  ],
])('port %j', (port, ...errors) => {
  expect(containerErrors({ ports: [port] })).toEqual(errors.map((error) => `ports[0].${error}`));
});

test('names of ports differ within a container, ports of the node within a pod', () => {
  const ports = [
    { containerPort: 80, name: 'http', hostPort: 80 },
    { containerPort: 81, name: 'http', hostPort: 80 },
  ];
  expect(specErrors({ containers: [{ ...container, ports }] })).toEqual([
    'spec.containers[0].ports[1].name: Duplicate value: "http"',
    'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
  ]);
});

test.each<[object, ...string[]]>([
  [{ name: 'A', value: '1' }],
  [{ name: 'a b.c-d', value: '1' }],
  [{ name: '' }, 'name: Required value'],
  [
    { name: 'a=b' },
    'name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters ' +
      "other than '='",
  ],
  [
    { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    'valueFrom: Invalid value: "": may not be specified when `value` is not empty',
  ],
  [
    { name: 'A', valueFrom: {} },
    'valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, ' +
      '`secretKeyRef` or `fileKeyRef`',
  ],
  [
    {
      name: 'A',
      valueFrom: { configMapKeyRef: { name: 'c', key: 'k' }, secretKeyRef: { name: 's', key: 'k' } },
    },
    'valueFrom: Invalid value: "": may not have more than one field specified at a time',
  ],
  [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }, 'valueFrom.secretKeyRef.key: Required value'],
  [{ name: 'A', valueFrom: { fieldRef: {} } }, 'valueFrom.fieldRef.fieldPath: Required value'],
  [
    { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
    'valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", ' +
      '"metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", ' +
      '"status.hostIPs", "status.podIP", "status.podIPs"',
  ],
  [
    { name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } },
    'valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not ' +
      'supported: spec.nope',
  ],
  [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }],
  [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } }],
  [
    { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.disk' } } },
    'valueFrom.resourceFieldRef.resource: Unsupported value: "limits.disk": supported values: "limits.cpu", ' +
      '"limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
  ],
  [
    { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } } },
    'valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported ' +
      'with the cpu resource',
  ],
  [
    { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'none', path: 'p', key: 'K' } } },
    'valueFrom.fileKeyRef.volumeName: Not found: "none"',
  ],
])('variable %j', (variable, ...errors) => {
  expect(containerErrors({ env: [variable] })).toEqual(errors.map((error) => `env[0].${error}`));
});

test.each([
  [[{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' }, prefix: 'P_' }], []],
  [[{}], ['envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']],
  [
    [{ configMapRef: { name: 'c' }, secretRef: { name: 's' } }],
    ['envFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [[{ configMapRef: {} }], ['envFrom[0].configMapRef.name: Required value']],
])('variables from %j', (envFrom, errors) => {
  expect(containerErrors({ envFrom })).toEqual(errors);
});

const volumes = [
  { name: 'data', emptyDir: {} },
  { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
];

test.each<[object, ...string[]]>([
  [{ name: 'data', mountPath: '/a', subPath: 'b' }],
  [{ name: 'missing', mountPath: '/a' }, 'volumeMounts[0].name: Not found: "missing"'],
  [{ name: 'data' }, 'volumeMounts[0].mountPath: Required value'],
  [
    { name: 'data', mountPath: '/a', subPath: '../x' },
    `volumeMounts.subPath: Invalid value: "../x": must not contain '..'`,
  ],
  [
    { name: 'data', mountPath: '/a', subPath: '/x' },
    'volumeMounts.subPath: Invalid value: "/x": must be a relative path',
  ],
  [
    { name: 'data', mountPath: '/a', subPath: 'x', subPathExpr: 'y' },
    'volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
  ],
  [
    { name: 'data', mountPath: '/a', mountPropagation: 'Bidirectional' },
    'volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged ' +
      'containers',
  ],
  [
    { name: 'data', mountPath: '/a', recursiveReadOnly: 'Enabled' },
    'volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
  ],
])('mount %j', (mount, ...errors) => {
  expect(containerErrors({ volumeMounts: [mount] }, { volumes })).toEqual(errors);
});

test('no two mounts are at the same place', () => {
  const mount = { name: 'data', mountPath: '/a' };
  expect(containerErrors({ volumeMounts: [mount, mount] }, { volumes })).toEqual([
    'volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
  ]);
});

test('only claimed storage can be a device, and not also a directory', () => {
  const volumeDevices = [
    { name: 'data', devicePath: '/dev/a' },
    { name: 'claim', devicePath: '/dev/b' },
  ];
  expect(containerErrors({ volumeDevices, volumeMounts: [{ name: 'claim', mountPath: '/c' }] }, { volumes })).toEqual([
    'volumeMounts[0].name: Invalid value: "claim": must not already exist in volumeDevices',
    'volumeDevices[0].name: Invalid value: "data": can only use volume source type of PersistentVolumeClaim or ' +
      'Ephemeral for block mode',
    'volumeDevices[1].name: Invalid value: "claim": must not already exist in volumeMounts',
  ]);
});

test.each([
  [{ exec: { command: ['a'] } }, []],
  [{ grpc: { port: 1 } }, []],
  [{}, [': Required value: must specify a handler type']],
  [
    { exec: { command: ['a'] }, tcpSocket: { port: 1 } },
    ['.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  [{ exec: {} }, ['.exec.command: Required value']],
  [{ httpGet: { port: 0 } }, ['.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive']],
  [
    { httpGet: { port: 1, scheme: 'ftp' } },
    ['.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"'],
  ],
  [{ tcpSocket: { port: 1 }, successThreshold: 2 }, ['.successThreshold: Invalid value: 2: must be 1']],
  [
    { tcpSocket: { port: 1 }, periodSeconds: -1 },
    ['.periodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 0 },
    ['.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0'],
  ],
])('liveness probe %j', (livenessProbe, errors) => {
  expect(containerErrors({ livenessProbe })).toEqual(errors.map((error) => `livenessProbe${error}`));
});

test('a readiness probe ends nothing, and may need several successes', () => {
  const readinessProbe = { tcpSocket: { port: 1 }, successThreshold: 2, terminationGracePeriodSeconds: 5 };
  expect(containerErrors({ readinessProbe })).toEqual([
    'readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
  ]);
});

test.each<[object, ...string[]]>([
  [{ preStop: { sleep: { seconds: 5 } } }],
  [{ postStart: {} }, 'lifecycle.postStart: Required value: must specify a handler type'],
  [
    { preStop: { sleep: { seconds: 60 } } },
    'lifecycle.preStop.sleep: Invalid value: 60: must be non-negative and less than terminationGracePeriodSeconds (30)',
  ],
  [
    { stopSignal: 'SIGTERM' },
    'lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`',
  ],
])('lifecycle %j', (lifecycle, ...errors) => {
  expect(containerErrors({ lifecycle })).toEqual(errors);
});

test('signals are those of the operating system', () => {
  const lifecycle = { stopSignal: 'SIGUSR1' };
  expect(containerErrors({ lifecycle }, { os: { name: 'linux' } })).toEqual([]);
  expect(containerErrors({ lifecycle }, { os: { name: 'windows' } })).toEqual([
    'lifecycle.stopSignal: Unsupported value: "SIGUSR1": supported values: "SIGKILL", "SIGTERM"',
  ]);
});

test.each<[object, ...string[]]>([
  [
    { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] },
    'restartPolicy: Required value: must specify restartPolicy when restart rules are used',
  ],
  [
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
  ],
  [
    { restartPolicy: 'Never', restartPolicyRules: [{ action: 'x' }] },
    'restartPolicyRules[0].action: Unsupported value: "x": supported values: "Restart", "RestartAllContainers"',
    'restartPolicyRules[0].exitCodes: Required value: must be specified',
  ],
  [
    {
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'x' },
      ],
    },
    'resizePolicy[1]: Duplicate value: "cpu"',
    'resizePolicy: Unsupported value: "x": supported values: "NotRequired", "RestartContainer"',
  ],
])('restarting %j', (fields, ...errors) => {
  expect(containerErrors(fields)).toEqual(errors);
});

test('names of containers differ within the pod, whatever their kind', () => {
  const same = { name: 'a', image: 'x' };
  expect(specErrors({ containers: [same, same], initContainers: [same] })).toEqual([
    'spec.containers[1].name: Duplicate value: "a"',
    'spec.initContainers[0].name: Duplicate value: "a"',
  ]);
});

test('an init container has no probes and no hooks, a sidecar may', () => {
  const init = {
    name: 'i',
    image: 'x',
    readinessProbe: { tcpSocket: { port: 1 } },
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
  };
  expect(specErrors({ initContainers: [init] })).toEqual([
    'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
    'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
  ]);
  expect(specErrors({ initContainers: [{ ...init, restartPolicy: 'Always' }] })).toEqual([]);
});
