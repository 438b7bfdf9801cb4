import { describe, expect, it } from 'vitest';
import { seenContainer, seenPod } from '../../../test/support/node/seen-pod.ts';
import { environmentOf } from './environment.ts';
import { type Found, type Inputs, referencesOf, type ServiceAddress } from './inputs.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const found = (object: { data: Record<string, string> }): Found<{ data: Record<string, string> }> => ({
  type: 'found',
  object,
});

const inputs = (parts: Partial<Inputs> = {}): Inputs => ({
  configMaps: new Map(),
  secrets: new Map(),
  files: new Map(),
  services: [],
  podIPs: ['10.1.0.5', 'fd00::5'],
  hostIPs: ['192.168.0.2', 'fe80::2'],
  allocatable: { cpu: '3500m', memory: '1000Mi', 'ephemeral-storage': '10Gi' },
  ...parts,
});

function variables(container: object, parts: Partial<Inputs> = {}, pod = seenPod()) {
  const { env } = environmentOf(pod, seenContainer(container), inputs(parts));
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

const env = (name: string, valueFrom: object) => ({ env: [{ name, valueFrom }] });

describe('envFrom', () => {
  const sources = {
    configMaps: new Map([
      ['one', found({ data: { A: 'one', B: 'one' } })],
      ['two', found({ data: { B: 'two', 'not-valid': 'x', '1ST': 'y' } })],
    ]),
    secrets: new Map([['hidden', found({ data: { A: base64('secret') } })]]),
  };

  it('takes every key, and the last source wins', () => {
    const envFrom = [
      { configMapRef: { name: 'one' } },
      { configMapRef: { name: 'two' } },
      { secretRef: { name: 'hidden' } },
    ];
    expect(variables({ envFrom }, sources)).toEqual({ A: 'secret', B: 'two', 'not-valid': 'x', '1ST': 'y' });
  });

  it('is overridden by env, which can refer to it', () => {
    const envFrom = [{ configMapRef: { name: 'one' } }];
    expect(variables({ envFrom, env: [{ name: 'A', value: 'own $(A)-$(B)' }] }, sources)).toEqual({
      A: 'own one-one',
      B: 'one',
    });
  });

  it('puts a prefix before keys', () => {
    expect(variables({ envFrom: [{ prefix: 'P_', configMapRef: { name: 'two' } }] }, sources)).toEqual({
      P_B: 'two',
      P_1ST: 'y',
      'P_not-valid': 'x',
    });
  });

  it('has keys that are no C identifiers, and reports them in one event for each source', () => {
    const container = seenContainer({ envFrom: [{ configMapRef: { name: 'two' } }, { secretRef: { name: 'odd' } }] });
    const secrets = new Map([['odd', found({ data: { 'a.b': base64('x') } })]]);
    const { env: made, events } = environmentOf(seenPod(), container, inputs({ ...sources, secrets }));
    expect(made).toEqual([
      { name: 'B', value: 'two' },
      { name: 'not-valid', value: 'x' },
      { name: '1ST', value: 'y' },
      { name: 'a.b', value: 'x' },
    ]);
    const tail =
      'are considered invalid environment variable names: they are not C identifiers, and shells cannot read them.';
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'InvalidEnvironmentVariableNames',
        message: `Keys [1ST, not-valid] from the EnvFrom configMap shop/two ${tail}`,
      },
      {
        type: 'Warning',
        reason: 'InvalidEnvironmentVariableNames',
        message: `Keys [a.b] from the EnvFrom secret shop/odd ${tail}`,
      },
    ]);
  });

  it('fails when a source is missing, unless it is optional', () => {
    expect(() => variables({ envFrom: [{ configMapRef: { name: 'x' } }] })).toThrow('configmap "x" not found');
    expect(() => variables({ envFrom: [{ secretRef: { name: 'x' } }] })).toThrow('secret "x" not found');
    expect(variables({ envFrom: [{ secretRef: { name: 'x', optional: true } }] })).toEqual({});
  });

  it('fails with the reason why a source cannot be read, even if it is optional', () => {
    const secrets = new Map<string, Found<object>>([['x', { type: 'failed', message: 'no route to the server' }]]);
    expect(() => variables({ envFrom: [{ secretRef: { name: 'x', optional: true } }] }, { secrets })).toThrow(
      'no route to the server',
    );
  });
});

describe('env', () => {
  it('expands earlier variables, not later ones', () => {
    expect(
      variables({
        env: [
          { name: 'A', value: 'a' },
          { name: 'B', value: '$(A)$(C) $$(A)' },
          { name: 'C', value: 'c' },
          { name: 'D' },
        ],
      }),
    ).toEqual({ A: 'a', B: 'a$(C) $(A)', C: 'c', D: '' });
  });

  it('does not expand values from elsewhere', () => {
    const configMaps = new Map([['c', found({ data: { k: '$(A)' } })]]);
    expect(variables(env('X', { configMapKeyRef: { name: 'c', key: 'k' } }), { configMaps })).toEqual({ X: '$(A)' });
  });

  const configMaps = new Map([['c', found({ data: { k: 'v' } })]]);
  const secrets = new Map([['s', found({ data: { k: base64('geheim') } })]]);
  it.each([
    [{ configMapKeyRef: { name: 'c', key: 'k' } }, 'v'],
    [{ secretKeyRef: { name: 's', key: 'k' } }, 'geheim'],
    [{ configMapKeyRef: { name: 'c', key: 'other', optional: true } }, undefined],
    [{ secretKeyRef: { name: 's', key: 'other', optional: true } }, undefined],
    [{ configMapKeyRef: { name: 'none', key: 'k', optional: true } }, undefined],
    [{ secretKeyRef: { name: 'none', key: 'k', optional: true } }, undefined],
  ])('takes %j', (source, value) => {
    expect(variables(env('X', source), { configMaps, secrets }).X).toBe(value);
  });

  it.each([
    [{ configMapKeyRef: { name: 'c', key: 'z' } }, "couldn't find key z in ConfigMap shop/c"],
    [{ secretKeyRef: { name: 's', key: 'z' } }, "couldn't find key z in Secret shop/s"],
    [{ configMapKeyRef: { name: 'x', key: 'z' } }, 'configmap "x" not found'],
    [{ secretKeyRef: { name: 'x', key: 'z' } }, 'secret "x" not found'],
    [{ fieldRef: { fieldPath: 'spec.unknown' } }, 'unsupported fieldPath: spec.unknown'],
    [{ resourceFieldRef: { resource: 'limits.disk' } }, 'unsupported container resource : limits.disk'],
    [{ resourceFieldRef: { resource: 'limits.cpu', containerName: 'x' } }, 'container x not found'],
  ])('fails for %j', (source, message) => {
    expect(() => variables(env('X', source), { configMaps, secrets })).toThrow(message);
  });

  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u-1'],
    ["metadata.labels['app']", 'store'],
    ["metadata.labels['toString']", ''],
    ["metadata.annotations['note']", 'a "b"'],
    ['spec.nodeName', 'node-1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', '192.168.0.2'],
    ['status.hostIPs', '192.168.0.2,fe80::2'],
    ['status.podIP', '10.1.0.5'],
    ['status.podIPs', '10.1.0.5,fd00::5'],
  ])('shows the field %s of the pod', (fieldPath, value) => {
    const pod = seenPod(
      { nodeName: 'node-1', serviceAccountName: 'robot' },
      { labels: { app: 'store' }, annotations: { note: 'a "b"' } },
    );
    expect(variables(env('X', { fieldRef: { fieldPath } }), {}, pod).X).toBe(value);
  });

  const own = {
    requests: { cpu: '250m', memory: '64Mi' },
    limits: { cpu: '1500m', memory: '65Mi', 'hugepages-2Mi': '4Mi' },
  };
  it.each([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['requests.cpu', '1m', '250'],
    ['requests.cpu', '0', '1'],
    ['limits.memory', '1Mi', '65'],
    ['limits.memory', '64Mi', '2'],
    ['requests.memory', '1', String(64 * 1024 * 1024)],
    ['limits.hugepages-2Mi', '1Mi', '4'],
    ['requests.ephemeral-storage', '1', '0'],
    // Without a limit, what the node has.
    ['limits.ephemeral-storage', '1Gi', '10'],
  ])('shows the resource %s in units of %s', (resource, divisor, value) => {
    const container = { resources: own, ...env('X', { resourceFieldRef: { resource, divisor } }) };
    expect(variables(container).X).toBe(value);
  });

  it("shows the pod's limit, and the node's, where the container has none", () => {
    const limits = env('X', { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } });
    expect(variables(limits).X).toBe('1000');
    expect(variables(limits, {}, seenPod({ resources: { limits: { memory: '500Mi' } } })).X).toBe('500');
  });

  it('shows the resources of another container', () => {
    const pod = seenPod({
      containers: [{ name: 'other', resources: { limits: { cpu: '3' } } }],
      initContainers: [{ name: 'init', resources: { limits: { cpu: '4' } } }],
    });
    const of = (containerName: string) => env('X', { resourceFieldRef: { containerName, resource: 'limits.cpu' } });
    expect(variables(of('other'), {}, pod).X).toBe('3');
    expect(variables(of('init'), {}, pod).X).toBe('4');
  });

  describe('from a file', () => {
    const fileKeyRef = { volumeName: 'v', path: 'dir/vars', key: 'K' };
    const files = new Map([['v/dir/vars', "K='from a file'\n"]]);

    it('takes its value', () => {
      expect(variables(env('X', { fileKeyRef }), { files })).toEqual({ X: 'from a file' });
    });

    it('fails without the file or the key', () => {
      expect(() => variables(env('X', { fileKeyRef }))).toThrow("couldn't parse env file");
      expect(() => variables(env('X', { fileKeyRef: { ...fileKeyRef, key: 'Z' } }), { files })).toThrow(
        'environment variable key "Z" not found in file "dir/vars"',
      );
      const broken = new Map([['v/dir/vars', 'K=x']]);
      expect(() => variables(env('X', { fileKeyRef }), { files: broken })).toThrow("couldn't parse env file");
    });

    it('is left out when it is optional', () => {
      const optional = { ...fileKeyRef, optional: true };
      expect(variables(env('X', { fileKeyRef: optional }))).toEqual({});
      expect(variables(env('X', { fileKeyRef: { ...optional, key: 'Z' } }), { files })).toEqual({});
    });
  });
});

describe('services', () => {
  const service = (namespace: string, name: string, clusterIP: string, ports: object[]) =>
    ({ metadata: { namespace, name }, spec: { clusterIP, ports } }) as unknown as ServiceAddress;
  const api = service('default', 'kubernetes', '10.96.0.1', [{ name: 'https', port: 443, protocol: 'TCP' }]);
  const db = service('shop', 'my-db', '10.96.0.9', [
    { name: 'sql', port: 5432, protocol: 'TCP' },
    { name: 'time', port: 123, protocol: 'UDP' },
  ]);
  const services = [
    api,
    db,
    service('shop', 'headless', 'None', [{ port: 1 }]),
    service('other', 'elsewhere', '10.96.0.10', [{ port: 1 }]),
  ];

  it('have the variables of Docker links', () => {
    expect(variables({}, { services })).toEqual({
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBERNETES_SERVICE_PORT_HTTPS: '443',
      KUBERNETES_PORT: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
      KUBERNETES_PORT_443_TCP_PORT: '443',
      KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
      MY_DB_SERVICE_HOST: '10.96.0.9',
      MY_DB_SERVICE_PORT: '5432',
      MY_DB_SERVICE_PORT_SQL: '5432',
      MY_DB_SERVICE_PORT_TIME: '123',
      MY_DB_PORT: 'tcp://10.96.0.9:5432',
      MY_DB_PORT_5432_TCP: 'tcp://10.96.0.9:5432',
      MY_DB_PORT_5432_TCP_PROTO: 'tcp',
      MY_DB_PORT_5432_TCP_PORT: '5432',
      MY_DB_PORT_5432_TCP_ADDR: '10.96.0.9',
      MY_DB_PORT_123_UDP: 'udp://10.96.0.9:123',
      MY_DB_PORT_123_UDP_PROTO: 'udp',
      MY_DB_PORT_123_UDP_PORT: '123',
      MY_DB_PORT_123_UDP_ADDR: '10.96.0.9',
    });
  });

  it('are left out without service links, except that of the API', () => {
    const names = Object.keys(variables({}, { services }, seenPod({ enableServiceLinks: false })));
    expect(names).toContain('KUBERNETES_SERVICE_HOST');
    expect(names.filter((name) => name.startsWith('MY_DB'))).toEqual([]);
  });

  it('are seen by expansion, and overridden by env', () => {
    const made = variables(
      {
        env: [
          { name: 'URL', value: 'http://$(MY_DB_SERVICE_HOST)' },
          { name: 'MY_DB_PORT', value: 'own' },
        ],
      },
      { services },
    );
    expect(made.URL).toBe('http://10.96.0.9');
    expect(made.MY_DB_PORT).toBe('own');
  });

  it('have addresses of IPv6 in brackets', () => {
    const v6 = service('shop', 'six', 'fd00::1', [{ port: 80 }]);
    expect(variables({}, { services: [v6] })).toMatchObject({
      SIX_SERVICE_HOST: 'fd00::1',
      SIX_PORT: 'tcp://[fd00::1]:80',
    });
  });
});

it('names exactly what a container refers to', () => {
  const container = seenContainer({
    envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: { name: 'b' } }],
    env: [
      { name: '1', valueFrom: { configMapKeyRef: { name: 'a', key: 'k' } } },
      { name: '2', valueFrom: { secretKeyRef: { name: 'c', key: 'k' } } },
      { name: '3', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'k' } } },
      { name: '4', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'other' } } },
      { name: '5', value: 'x', valueFrom: { secretKeyRef: { name: 'unused', key: 'k' } } },
    ],
  });
  expect(referencesOf(container)).toEqual({
    configMaps: ['a'],
    secrets: ['b', 'c'],
    files: [{ volumeName: 'v', path: 'f' }],
  });
});
