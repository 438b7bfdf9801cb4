import { beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../base/random.ts';
import { argumentsWith, parseOverrides } from './argument-overrides.ts';
import type { ControlPlane, ObjectToCreate } from './control-plane.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import {
  claimObjects,
  managerObjects,
  namespaceObject,
  secretObjects,
  serverDeployment,
  serviceObject,
} from './host-objects.ts';

const PLANE: ControlPlane = {
  ...{ name: 'fed', namespace: 'federation-system', image: 'qd', program: ['node', 'qd.js'], etcdImage: undefined },
  dns: { provider: 'coredns', zone: 'example.com.', config: undefined },
  ...{ serviceType: 'NodePort', advertiseAddress: '127.0.0.1', hasBasicAuth: true, hasTokenAuth: true },
  storage: { capacity: '10Gi', className: undefined },
  ...{ serverOverrides: new Map(), managerOverrides: new Map() },
};
const ANNOTATIONS = { 'federation.alpha.kubernetes.io/federation-name': 'fed' };
const LABELS = { app: 'federated-cluster' };

let credentials: Credentials;
beforeAll(async () => {
  const options = {
    name: 'fed',
    names: ['fed-apiserver', '127.0.0.1'],
    now: Date.parse('2030-01-01'),
    random: systemRandom,
  };
  credentials = await createCredentials(options);
});

const commandOf = ({ object }: ObjectToCreate): readonly string[] => object.spec.template.spec.containers[0].command;
const dataOf = ({ object }: ObjectToCreate, key: string) => Buffer.from(object.data[key], 'base64').toString();

describe('the objects of release 1.7', () => {
  it('a namespace and a service, with its labels and annotations', () => {
    expect(namespaceObject(PLANE).object).toMatchObject({
      ...{ kind: 'Namespace', metadata: { name: 'federation-system', annotations: ANNOTATIONS } },
    });
    expect(serviceObject(PLANE).object).toMatchObject({
      metadata: { name: 'fed-apiserver', namespace: 'federation-system', labels: LABELS, annotations: ANNOTATIONS },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 'https' }],
        ...{ selector: { ...LABELS, module: 'federation-apiserver' }, type: 'NodePort' },
      },
    });
  });

  it('secrets with the credentials', () => {
    const [server, manager, ...others] = secretObjects(PLANE, credentials);
    expect(others).toEqual([]);
    expect(Object.keys(server!.object.data).sort()).toEqual([
      ...['basicauth.csv', 'ca.crt', 'server.crt', 'server.key', 'token.csv'],
    ]);
    expect(server!.object).toMatchObject({ metadata: { name: 'fed-apiserver-credentials' }, type: 'Opaque' });
    expect(dataOf(server!, 'basicauth.csv')).toBe(`${credentials.password},admin,admin,system:masters\n`);
    expect(manager!.object.metadata).toMatchObject({
      name: 'fed-controller-manager-kubeconfig',
      annotations: ANNOTATIONS,
    });
    expect(dataOf(manager!, 'kubeconfig')).toContain('"server": "https://fed-apiserver"');
  });

  it('without basic and token authentication unless they are enabled', () => {
    const plane = { ...PLANE, hasBasicAuth: false, hasTokenAuth: false };
    expect(Object.keys(secretObjects(plane, credentials)[0]!.object.data)).toEqual([
      'ca.crt',
      'server.crt',
      'server.key',
    ]);
    expect(commandOf(serverDeployment(plane, credentials)).join(' ')).not.toMatch(/basic-auth|token-auth/);
  });

  it('deployments of the API server and of the controller manager', () => {
    const server = serverDeployment(PLANE, credentials);
    const labels = { ...LABELS, module: 'federation-apiserver' };
    expect(server.object).toMatchObject({
      metadata: { name: 'fed-apiserver', labels: LABELS, annotations: ANNOTATIONS },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels } } },
    });
    expect(commandOf(server)).toEqual([
      ...['node', 'qd.js', 'federation-apiserver', '--admission-control=NamespaceLifecycle'],
      ...['--advertise-address=127.0.0.1', '--basic-auth-file=/etc/federation/apiserver/basicauth.csv'],
      ...['--bind-address=0.0.0.0', '--client-ca-file=/etc/federation/apiserver/ca.crt', '--data-dir=/var/etcd/data'],
      ...['--secure-port=8443', '--tls-cert-file=/etc/federation/apiserver/server.crt'],
      '--tls-private-key-file=/etc/federation/apiserver/server.key',
      '--token-auth-file=/etc/federation/apiserver/token.csv',
    ]);
    const [account, role, binding, manager] = managerObjects(PLANE, credentials);
    expect(account!.object.metadata).toMatchObject({ name: 'federation-controller-manager', labels: LABELS });
    expect(role!.object).toMatchObject({
      metadata: { name: 'federation-system:federation-controller-manager' },
      rules: [
        { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
      ],
    });
    expect(binding!.object.roleRef.name).toBe('federation-system:federation-controller-manager');
    expect(manager!.object.metadata.annotations).toEqual({ ...ANNOTATIONS, federations: 'fed=example.com' });
    expect(commandOf(manager!)).toEqual([
      ...['node', 'qd.js', 'federation-controller-manager', '--dns-provider=coredns', '--federation-name=fed'],
      ...['--kubeconfig=/etc/federation/controller-manager/kubeconfig', '--master=https://fed-apiserver'],
      '--zone-name=example.com.',
    ]);
  });

  it('etcd beside the API server, where an image is named', () => {
    const { object } = serverDeployment({ ...PLANE, etcdImage: 'etcd:3' }, credentials);
    const [server, etcd] = object.spec.template.spec.containers;
    expect(server.command).toContain('--etcd-servers=http://localhost:2379');
    expect(etcd).toMatchObject({ name: 'etcd', image: 'etcd:3', volumeMounts: [{ mountPath: '/var/etcd' }] });
  });

  it('pods start again when credentials change', async () => {
    const next = await createCredentials({ name: 'fed', names: [], now: 0, random: systemRandom });
    const digest = (made: Credentials) => serverDeployment(PLANE, made).object.spec.template.metadata.annotations;
    expect(digest(next)).not.toEqual(digest(credentials));
    expect(digest(credentials)).toEqual(digest(credentials));
  });
});

it('rule 1: the claim is ReadWriteOnce, of 10Gi, labelled, and named from the federation', () => {
  expect(claimObjects(PLANE).map(({ object }) => object)).toEqual([
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: {
        ...{ name: 'fed-apiserver-etcd-claim', namespace: 'federation-system' },
        ...{ labels: { app: 'federated-cluster' }, annotations: ANNOTATIONS },
      },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    },
  ]);
  const named = claimObjects({ ...PLANE, storage: { capacity: '20Gi', className: 'fast' } })[0]!.object.spec;
  expect(named).toMatchObject({ resources: { requests: { storage: '20Gi' } }, storageClassName: 'fast' });
});

it('rule 1: the claim is not requested without persistent storage, and then nothing is stored', () => {
  const plane = { ...PLANE, storage: undefined };
  expect(claimObjects(plane)).toEqual([]);
  const { object } = serverDeployment(plane, credentials);
  expect(object.spec.template.spec.volumes.map(({ name }: { name: string }) => name)).toEqual([
    'fed-apiserver-credentials',
  ]);
  expect(commandOf(serverDeployment(plane, credentials)).join(' ')).not.toContain('--data-dir');
});

it('rule 2: the host gets the permission to program the DNS provider with its configuration', () => {
  const plane = { ...PLANE, dns: { ...PLANE.dns, config: '[Global]\nzones = example.com.\n' } };
  const secret = secretObjects(plane, credentials)[2]!;
  expect(dataOf(secret, 'coredns')).toBe(plane.dns.config);
  const manager = managerObjects(plane, credentials)[3]!;
  expect(commandOf(manager)).toContain('--dns-provider-config=/etc/federation/dns-provider/coredns');
  expect(manager.object.spec.template.spec.volumes).toContainEqual({
    ...{ name: 'dns-provider', secret: { secretName: secret.object.metadata.name } },
  });
});

it('overridden arguments replace or add to those of the tool; a value may have commas', () => {
  const overrides = parseOverrides('--a=1,--b=x,y,--c=');
  expect(argumentsWith({ '--a': '0', '--z': '9' }, overrides)).toEqual(['--a=1', '--b=x,y', '--c=', '--z=9']);
  const plane = { ...PLANE, serverOverrides: parseOverrides('--anonymous-auth=true,--secure-port=9443') };
  expect(commandOf(serverDeployment(plane, credentials))).toEqual(
    expect.arrayContaining(['--anonymous-auth=true', '--secure-port=9443']),
  );
});

it.each(['a=1', '--a', '-a=1'])('overridden arguments: %s is rejected', (text) => {
  expect(() => parseOverrides(text)).toThrow('is not like --argument=value');
});
