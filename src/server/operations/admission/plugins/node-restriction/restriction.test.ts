import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../../test/support/server.ts';
import { allKinds } from '../../../../../kinds/all.ts';
import { nodeRestriction } from './restriction.ts';

const user = { name: 'system:node:n1', groups: ['system:nodes'] };
const asNode: any = { user };
const cluster: any = { user, namespace: undefined };
const master: any = { namespace: undefined };
const forbidden = (message: string) => ({ code: 403, message: expect.stringContaining(message) });

let api: TestServer;
let uid: string;
beforeEach(async () => {
  api = await testServer(allKinds, { admission: [nodeRestriction], advertise: { address: '192.0.2.9', port: 443 } });
  ({ uid } = (await api.create('nodes', { metadata: { name: 'n1' } }, master)).metadata);
  await api.create('nodes', { metadata: { name: 'n2' } }, master);
});

const pod = (nodeName: string, metadata: object = {}, spec: object = {}) => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeName, ...spec },
});

describe('a pod', () => {
  const mirror = (owner: object = {}) => ({
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true, ...owner }],
  });

  it('can be created by a node as its own mirror pod', async () => {
    const made = await api.create('pods', pod('n1', mirror()), asNode);
    expect(made.spec.nodeName).toBe('n1');
    await api.delete('pods', 'p', asNode);
    expect((await api.get('pods', 'p')).metadata.deletionTimestamp).toBeDefined();
  });

  it('is rejected otherwise', async () => {
    const make = (made: object) => api.create('pods', made, asNode);
    await expect(make(pod('n1'))).rejects.toMatchObject(forbidden('can only create mirror pods'));
    await expect(make(pod('n2', mirror()))).rejects.toMatchObject(forbidden('spec.nodeName set to itself'));
    await expect(make(pod('n1', mirror({ uid: 'other' })))).rejects.toMatchObject(forbidden('UID mismatch'));
    await expect(make(pod('n1', mirror({ name: 'n2' })))).rejects.toMatchObject(forbidden('owner reference'));
    await expect(make(pod('n1', mirror({ controller: false })))).rejects.toMatchObject(forbidden('controller owner'));
    const volumes = [{ name: 'v', secret: { secretName: 's' } }];
    await expect(make(pod('n1', mirror(), { volumes }))).rejects.toMatchObject(forbidden('reference secrets'));
  });

  it('cannot be written by another node', async () => {
    await api.create('pods', pod('n2'));
    const status = { status: { phase: 'Failed' } };
    await expect(api.patch('pods', 'p', status, { ...asNode, subresource: 'status' })).rejects.toMatchObject(
      forbidden('can only update pod status for pods with spec.nodeName set to itself'),
    );
    await expect(api.delete('pods', 'p', asNode)).rejects.toMatchObject(forbidden('can only delete pods'));
    await expect(
      api.create('pods', { metadata: { name: 'p' } }, { ...asNode, name: 'p', subresource: 'eviction' }),
    ).rejects.toMatchObject(forbidden('can only evict pods'));
    await expect(api.patch('pods', 'p', { metadata: { labels: { a: 'b' } } }, asNode)).rejects.toMatchObject(
      forbidden('can only create and delete mirror pods'),
    );
  });

  it('can get a status from its node, but no labels', async () => {
    await api.create('pods', pod('n1'));
    const at = { ...asNode, subresource: 'status' };
    await api.patch('pods', 'p', { status: { phase: 'Running' } }, at);
    await expect(api.patch('pods', 'p', { metadata: { labels: { a: 'b' } } }, at)).rejects.toMatchObject(
      forbidden('cannot update labels through pod status'),
    );
  });
});

describe('a node', () => {
  const change = (name: string, body: object) => api.patch('nodes', name, body, cluster);

  it('can write only its own object', async () => {
    await change('n1', { metadata: { labels: { mine: 'x', 'kubernetes.io/hostname': 'h' } } });
    await expect(change('n2', { metadata: { labels: { mine: 'x' } } })).rejects.toMatchObject(
      forbidden('node "n1" is not allowed to modify node "n2"'),
    );
    await expect(api.create('nodes', { metadata: { name: 'n3' } }, cluster)).rejects.toMatchObject({ code: 403 });
    await expect(change('n1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } })).rejects.toMatchObject(
      forbidden('not allowed to modify taints'),
    );
  });

  it.each([
    'node-restriction.kubernetes.io/team',
    'x.node-restriction.kubernetes.io/team',
    'kubernetes.io/role',
    'node-role.kubernetes.io/control-plane',
    'x.k8s.io/y',
  ])('cannot label itself %s', async (label) => {
    await expect(change('n1', { metadata: { labels: { [label]: 'x' } } })).rejects.toMatchObject(
      forbidden(`is not allowed to modify labels: ${label}`),
    );
  });

  it.each(['node.kubernetes.io/a', 'x.kubelet.kubernetes.io/a', 'topology.kubernetes.io/zone', 'example.com/a'])(
    'labels itself %s',
    async (label) => {
      const node = await change('n1', { metadata: { labels: { [label]: 'x' } } });
      expect(node.metadata.labels).toMatchObject({ [label]: 'x' });
    },
  );
});

describe('a volume that is a directory of the node', () => {
  const REMOVAL = 'external-provisioner.volume.kubernetes.io/finalizer';
  const volume = (node: string) => ({
    metadata: {
      name: 'v',
      finalizers: [REMOVAL],
      labels: { 'volume.kubernetes.io/node': node },
      annotations: { 'pv.kubernetes.io/provisioned-by': 'quarterdeck.io/node-directory' },
    },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      local: { path: '/volumes/v' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    },
  });
  const change = (body: object, at: object = {}) => api.patch('persistentvolumes', 'v', body, { ...cluster, ...at });
  const released = { metadata: { finalizers: null } };
  const rejected = forbidden('can only remove the finalizer');

  it('can be released by the node when it is deleted, and not be changed otherwise', async () => {
    await api.create('persistentvolumes', volume('n1'), master);
    await expect(change(released)).rejects.toMatchObject(rejected);
    await api.delete('persistentvolumes', 'v', master);
    await expect(change({ spec: { persistentVolumeReclaimPolicy: 'Retain' } })).rejects.toMatchObject(rejected);
    await expect(change({ metadata: { ...released.metadata, labels: { a: 'b' } } })).rejects.toMatchObject(rejected);
    await expect(change({ status: { phase: 'Bound' } }, { subresource: 'status' })).rejects.toMatchObject(rejected);
    await change({ status: { phase: 'Failed', message: 'busy' } }, { subresource: 'status' });
    await change(released);
    await expect(api.get('persistentvolumes', 'v', master)).rejects.toMatchObject({ code: 404 });
  });

  it('is left to the authorizer for another node', async () => {
    await api.create('persistentvolumes', volume('n2'), master);
    const changed = await change({ metadata: { labels: { a: 'b' } } });
    expect(changed.metadata.labels).toMatchObject({ a: 'b' });
  });
});

it('a node writes only the Lease and CSINode of its own name', async () => {
  const at = { user, apiVersion: 'coordination.k8s.io/v1', namespace: 'kube-node-lease' };
  await api.create('leases', { metadata: { name: 'n1' } }, at);
  await expect(api.create('leases', { metadata: { name: 'n2' } }, at)).rejects.toMatchObject({ code: 403 });
  const csi = { ...cluster, apiVersion: 'storage.k8s.io/v1' };
  await api.create('csinodes', { metadata: { name: 'n1' }, spec: { drivers: [] } }, csi);
  await expect(api.create('csinodes', { metadata: { name: 'n2' }, spec: { drivers: [] } }, csi)).rejects.toMatchObject({
    code: 403,
  });
});

it('the plugin applies to nodes only', async () => {
  const somebody = { user: { name: 'ann', groups: [] } };
  await api.create('pods', pod('n2'), somebody);
  const nameless = { user: { name: 'system:node:', groups: ['system:nodes'] } };
  await expect(api.delete('pods', 'p', nameless)).rejects.toMatchObject(forbidden('could not determine node'));
});

describe('the address of a pod', () => {
  const LOOPBACK = ['127.0.0.1', '169.254.169.254', '::1', 'fe80::1', '0.0.0.0', '224.0.0.1', '::ffff:0:7f00:1'];
  const write = (podIP: string, asked = asNode) =>
    api.patch('pods', 'p', { status: { podIP, podIPs: [{ ip: podIP }] } }, { ...asked, subresource: 'status' });
  const describeNode = async (name: string, podCIDR: string, address: string) => {
    await api.patch('nodes', name, { spec: { podCIDR, podCIDRs: [podCIDR] } }, master);
    const status = {
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
    };
    await api.patch('nodes', name, { status }, { ...master, subresource: 'status' });
  };
  const annotate = (value: string) =>
    api.patch('nodes', 'n1', { metadata: { annotations: { 'node.kubernetes.io/pod-network': value } } }, master);

  beforeEach(async () => {
    await describeNode('n1', '10.244.1.0/24', '192.0.2.1');
    await describeNode('n2', '10.244.2.0/24', '192.0.2.2');
  });

  it('must be in the range of the node, or an address of the node', async () => {
    await api.create('pods', pod('n1'));
    expect((await write('10.244.1.7')).status.podIP).toBe('10.244.1.7');
    expect((await write('192.0.2.1')).status.podIP).toBe('192.0.2.1');
    await expect(write('10.244.2.7')).rejects.toMatchObject(
      forbidden('cannot report the pod IP "10.244.2.7" is not in the range of the node\'s pods (10.244.1.0/24)'),
    );
  });

  it.each([...LOOPBACK, '192.0.2.2', '10.96.0.1', '198.51.100.7'])('cannot be %s', async (ip) => {
    await api.create('pods', pod('n1'));
    await expect(write(ip)).rejects.toMatchObject(forbidden('cannot report the pod IP'));
  });

  it('must be an address of the node on the host network', async () => {
    await api.create('pods', pod('n1', {}, { hostNetwork: true }));
    await expect(write('10.244.1.7')).rejects.toMatchObject(forbidden('is not an address of the node'));
    expect((await write('192.0.2.1')).status.podIP).toBe('192.0.2.1');
  });

  it('must be an address of the node, if all pods have the network of the node', async () => {
    await api.create('pods', pod('n1'));
    await annotate('node');
    await expect(write('10.244.1.7')).rejects.toMatchObject(forbidden('is not an address of the node'));
    await expect(write('192.0.2.2')).rejects.toMatchObject(forbidden('is not an address of the node'));
    expect((await write('192.0.2.1')).status.podIP).toBe('192.0.2.1');
  });

  it.each(LOOPBACK)('cannot be %s, whatever the node reports about itself', async (ip) => {
    const status = { addresses: [{ type: 'InternalIP', address: ip }] };
    await api.patch('nodes', 'n1', { status }, { ...cluster, subresource: 'status' });
    for (const [name, hostNetwork] of [
      ['p', false],
      ['q', true],
    ] as const) {
      await api.create('pods', { ...pod('n1', { name }, { hostNetwork }) });
      const claim = { status: { podIP: ip, podIPs: [{ ip }] } };
      const written = api.patch('pods', name, claim, { ...asNode, subresource: 'status' });
      await expect(written).rejects.toMatchObject(forbidden('cannot report the pod IP'));
    }
  });

  it('may be any address without another owner, if another network assigns addresses to pods', async () => {
    await api.create('pods', pod('n1'));
    await annotate('external');
    expect((await write('198.51.100.7')).status.podIP).toBe('198.51.100.7');
    await expect(write('10.244.2.7')).rejects.toMatchObject(forbidden('is in the range of the pods of node "n2"'));
    await expect(write('192.0.2.2')).rejects.toMatchObject(forbidden('is an address of node "n2"'));
    await expect(write('10.96.0.9')).rejects.toMatchObject(forbidden('is in the range of Services'));
    await expect(write('127.0.0.1')).rejects.toMatchObject(forbidden('is a loopback address'));
    await annotate('cluster');
    await expect(write('198.51.100.8')).rejects.toMatchObject(forbidden('is not in the range'));
    // Addresses reported before are kept.
    expect((await write('198.51.100.7')).status.podIP).toBe('198.51.100.7');
  });
});
