import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../test/support/server.ts';
import type { User } from '../../../../api/user.ts';
import { allKinds } from '../../../../kinds/all.ts';
import type { Decision, ResourceAttributes } from '../authorizer.ts';

const node = (name: string): User => ({ name: `system:node:${name}`, groups: ['system:nodes'] });
const cluster: any = { namespace: undefined };

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds, { authorization: ['Node'] });
});

const decide = (user: User, verb: string, what: string, more: Partial<ResourceAttributes> = {}): Decision => {
  const [resource = '', subresource = ''] = what.split('/');
  const asked = {
    user,
    verb,
    group: '',
    version: 'v1',
    resource,
    subresource,
    namespace: 'default',
    name: 'x',
    ...more,
  };
  return api.server.authorizer.authorize(asked) as Decision;
};
const may = (...asked: Parameters<typeof decide>) => decide(...asked).verdict === 'allow';

const container = { name: 'c', image: 'i' };
const pod = (name: string, spec: object, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], nodeName: 'n1', ...spec },
});

describe('a node', () => {
  it('reads what its pods need, unlike other nodes, and nothing else', async () => {
    const volumes = [
      { name: 'a', secret: { secretName: 'in-volume' } },
      { name: 'b', configMap: { name: 'in-volume' } },
      { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
      {
        name: 'd',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
      { name: 'e', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
    ];
    const env = [
      { name: 'A', valueFrom: { secretKeyRef: { name: 'in-env', key: 'k' } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'in-env', key: 'k' } } },
    ];
    const envFrom = [{ secretRef: { name: 'from-env' } }, { configMapRef: { name: 'from-env' } }];
    const spec = {
      containers: [{ ...container, env, envFrom }],
      volumes,
      imagePullSecrets: [{ name: 'pull' }],
      serviceAccountName: 'robot',
    };
    expect(may(node('n1'), 'get', 'secrets', { name: 'in-volume' })).toBe(false);
    await api.create('pods', pod('p', spec));
    const needed: [string, string[]][] = [
      ['secrets', ['in-volume', 'projected', 'in-env', 'from-env', 'pull']],
      ['configmaps', ['in-volume', 'projected', 'in-env', 'from-env']],
      ['persistentvolumeclaims', ['claim', 'p-d']],
      ['serviceaccounts', ['robot']],
    ];
    for (const [resource, names] of needed) {
      for (const name of names) {
        expect(may(node('n1'), 'get', resource, { name }), `${resource} ${name}`).toBe(true);
        expect(may(node('n2'), 'get', resource, { name }), `${resource} ${name}`).toBe(false);
        expect(may(node('n1'), 'get', resource, { name, namespace: 'other' })).toBe(false);
        expect(may(node('n1'), 'update', resource, { name })).toBe(false);
      }
    }
    expect(may(node('n1'), 'list', 'secrets', { name: 'pull' })).toBe(true);
    expect(may(node('n1'), 'list', 'secrets', { name: '' })).toBe(false);
    expect(decide(node('n1'), 'get', 'secrets', { name: 'another' }).reason).toBe(
      "no relationship found between node 'n1' and this object",
    );
    expect(may(node('n1'), 'create', 'serviceaccounts/token', { name: 'robot' })).toBe(true);
    expect(may(node('n2'), 'create', 'serviceaccounts/token', { name: 'robot' })).toBe(false);
    expect(may(node('n1'), 'patch', 'persistentvolumeclaims/status', { name: 'claim' })).toBe(true);
  });

  it('loses access when its pods are deleted', async () => {
    const volumes = [{ name: 'a', secret: { secretName: 's' } }];
    await api.create('pods', pod('p', { volumes, nodeName: undefined }));
    expect(may(node('n1'), 'get', 'secrets', { name: 's' })).toBe(false);
    const target = { kind: 'Node', name: 'n1' };
    await api.create(
      'pods',
      { metadata: { name: 'p' }, target, kind: 'Binding', apiVersion: 'v1' },
      { name: 'p', subresource: 'binding' },
    );
    expect(may(node('n1'), 'get', 'secrets', { name: 's' })).toBe(true);
    await api.delete('pods', 'p', { options: { gracePeriodSeconds: 0 } });
    expect(may(node('n1'), 'get', 'secrets', { name: 's' })).toBe(false);
  });

  it('gets no access through a mirror pod', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    await api.create('pods', pod('p', { volumes: [{ name: 'a', secret: { secretName: 's' } }] }, { annotations }));
    expect(may(node('n1'), 'get', 'secrets', { name: 's' })).toBe(false);
    expect(may(node('n1'), 'get', 'pods', { name: 'p' })).toBe(true);
  });

  it('reads volumes of its pods, with the secrets to mount them', async () => {
    await api.create('pods', pod('p', { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'claim' } }] }));
    const csi = {
      driver: 'd',
      volumeHandle: 'h',
      nodeStageSecretRef: { name: 'stage', namespace: 'vault' },
      controllerPublishSecretRef: { name: 'controller', namespace: 'vault' },
    };
    const volume = (name: string, claim: string) => ({
      metadata: { name },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi,
        claimRef: { namespace: 'default', name: claim },
      },
    });
    await api.create('persistentvolumes', volume('mine', 'claim'), cluster);
    await api.create('persistentvolumes', volume('other', 'another'), cluster);
    const secret = (name: string) => may(node('n1'), 'get', 'secrets', { name, namespace: 'vault' });
    expect(may(node('n1'), 'get', 'persistentvolumes', { namespace: '', name: 'mine' })).toBe(true);
    expect(may(node('n1'), 'get', 'persistentvolumes', { namespace: '', name: 'other' })).toBe(false);
    expect(secret('stage')).toBe(false);
    const resources = { requests: { storage: '1Gi' } };
    const claim = {
      metadata: { name: 'claim' },
      spec: { accessModes: ['ReadWriteOnce'], resources, volumeName: 'mine' },
    };
    await api.create('persistentvolumeclaims', claim);
    expect(secret('stage')).toBe(true);
    expect(secret('controller')).toBe(false);
  });
});

const own = { namespace: '', name: 'n1' };
it.each<[string, string, Partial<ResourceAttributes>, boolean]>([
  ['get', 'nodes', own, true],
  ['get', 'nodes', { ...own, name: 'n2' }, false],
  ['list', 'nodes', { ...own, name: '' }, false],
  ['create', 'nodes', { ...own, name: '' }, true],
  ['patch', 'nodes/status', own, true],
  ['delete', 'nodes', own, false],
  ['update', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: 'n1' }, true],
  ['update', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: 'n2' }, false],
  ['create', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: '' }, true],
  ['get', 'leases', { group: 'coordination.k8s.io', namespace: 'default', name: 'n1' }, false],
  ['get', 'csinodes', { ...own, group: 'storage.k8s.io' }, true],
  ['get', 'csinodes', { ...own, name: 'n2', group: 'storage.k8s.io' }, false],
  ['create', 'pods', { name: '' }, true],
  ['patch', 'pods/status', {}, true],
  ['create', 'pods/eviction', {}, true],
  ['update', 'pods', {}, false],
  ['list', 'pods', { name: '', fieldSelector: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] }, true],
  ['watch', 'pods', { name: '', fieldSelector: [{ key: 'spec.nodeName', operator: 'In', values: ['n2'] }] }, false],
  ['list', 'pods', { name: '', fieldSelector: [{ key: 'spec.nodeName', operator: 'NotIn', values: ['n1'] }] }, false],
  ['list', 'pods', { name: '' }, false],
  ['list', 'services', { name: '', namespace: '' }, true],
  ['create', 'events', { name: '' }, true],
  ['list', 'clusterroles', { group: 'rbac.authorization.k8s.io', namespace: '', name: '' }, false],
  ['create', 'resourceslices', { group: 'resource.k8s.io', namespace: '', name: '' }, true],
  ['list', 'resourceslices', { group: 'resource.k8s.io', namespace: '', name: '' }, false],
])('a node by its name decides %s %s %j: %j', (verb, what, more, allowed) => {
  expect(may(node('n1'), verb, what, more)).toBe(allowed);
});

it('a node by its name must be in the group of nodes and have a name', () => {
  const asked = (user: User) => decide(user, 'list', 'services', { name: '', namespace: '' });
  expect(asked({ name: 'system:node:n1', groups: [] }).verdict).toBe('noOpinion');
  expect(asked({ name: 'n1', groups: ['system:nodes'] }).verdict).toBe('noOpinion');
  expect(asked(node('')).reason).toBe('unknown node for user "system:node:"');
  expect(api.server.authorizer.rulesFor(node('n1'), 'default')).toMatchObject({ incomplete: true });
  expect(api.server.authorizer.rulesFor({ name: 'ann', groups: [] }, 'default').incomplete).toBe(false);
});
