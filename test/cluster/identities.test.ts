/** Tests that every component acts as its own user, and can do what its role allows: no less, and no more. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import {
  CONTROLLER_MANAGER,
  controllerUser,
  nodeUser,
  SCHEDULER,
  SIMULATED_NODES,
} from '../../src/client/component-users.ts';
import { allControllers } from '../../src/controllers/all.ts';
import { CertificateSigningRequest } from '../../src/kinds/groups/access/certificates/certificate-signing-request.ts';
import { ClusterRoleBinding } from '../../src/kinds/groups/access/rbac/cluster-role-binding.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { newRequest } from '../../src/protocols/x509/request.ts';
import { defaultPolicy } from '../../src/server/access/authz/rbac/policy/policy.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startWholeCluster } from '../support/cluster/whole-cluster.ts';

let cluster: Cluster;
let admin: Client;
beforeEach(async () => {
  cluster = await startWholeCluster(['n1', 'n2']);
  admin = cluster.client;
});
afterEach(() => cluster.stop());

const container = { name: 'c', image: 'nginx:1.27' };
const podsOf = async (app: string) =>
  (
    await admin
      .of(Pod)
      .in('default')
      .list({ labelSelector: `app=${app}` })
  ).items;
const forbidden = (words: string) => ({ reason: 'Forbidden', message: expect.stringContaining(words) });

/** Rejections that the test expects. */
function expected(): string[] {
  return cluster.rejections.splice(0);
}

async function replicaSet(app: string): Promise<void> {
  const labels = { app };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await admin.of(ReplicaSet).create({ metadata: { name: app, namespace: 'default' }, spec } as any);
}

describe('a controller', () => {
  it('has a default role for its account, in Kubernetes’ policy or in ours', () => {
    const options = {
      kinds: () => [],
      aggregated: () => [],
      onKindsChange: () => () => {},
      authority: '',
      reservedNames: [],
      server: '',
    };
    const controllers = allControllers({
      ...options,
      podRange: '10.244.0.0/16',
      signCertificate: async () => '',
      mintToken: async () => '',
    });
    const { clusterRoleBindings, roleBindings } = defaultPolicy();
    const accounts = [...clusterRoleBindings, ...roleBindings].flatMap(({ subjects }) =>
      subjects.flatMap(({ kind, name }) => (kind === 'ServiceAccount' ? [name] : [])),
    );
    for (const { name, account } of controllers) {
      expect(accounts, `${name}: add a role for "${account}" to src/server/access/authz/rbac/policy`).toContain(
        account,
      );
    }
  });

  it('fails visibly without its role, and continues when it is back', async () => {
    const bindings = admin.of(ClusterRoleBinding);
    const name = 'system:controller:replicaset-controller';
    const { metadata, roleRef, subjects } = await bindings.get(name);
    await bindings.delete(name);
    await replicaSet('web');
    const words = 'User "system:serviceaccount:kube-system:replicaset-controller" cannot create resource "pods"';
    await cluster.eventually(async () => cluster.complaints.some(({ errors }) => String(errors).includes(words)));
    expect(await podsOf('web')).toEqual([]);
    await bindings.create({ metadata: { name, labels: metadata.labels }, roleRef, subjects } as any);
    await cluster.eventually(async () => (await podsOf('web')).length === 2);
    expect(expected()[0]).toContain(words);
  });

  it('cannot do what its role does not allow', async () => {
    await admin.of(Secret).create({ metadata: { name: 's', namespace: 'default' } });
    const controller = cluster.clientFor(controllerUser('replicaset-controller'));
    await expect(controller.of(Secret).in('default').get('s')).rejects.toMatchObject(
      forbidden('cannot get resource "secrets" in API group "" in the namespace "default"'),
    );
    await expect(controller.of(Node).delete('n1')).rejects.toMatchObject(forbidden('cannot delete resource "nodes"'));
    // The controllers' shared account reads everything, and deletes no pods.
    const manager = cluster.clientFor(controllerUser(CONTROLLER_MANAGER));
    expect((await manager.of(Secret).list()).items.length).toBeGreaterThan(0);
    await expect(manager.of(Pod).in('default').delete('p')).rejects.toMatchObject(forbidden('cannot delete'));
    expected();
  });
});

describe('the scheduler', () => {
  it('schedules pods, and cannot delete a secret', async () => {
    await replicaSet('web');
    await cluster.eventually(async () => (await podsOf('web')).filter(({ spec }) => spec.nodeName).length === 2);
    await admin.of(Secret).create({ metadata: { name: 's', namespace: 'default' } });
    const scheduler = cluster.clientFor(SCHEDULER);
    await expect(scheduler.of(Secret).in('default').delete('s')).rejects.toMatchObject({
      reason: 'Forbidden',
      message:
        'secrets "s" is forbidden: User "system:kube-scheduler" cannot delete resource "secrets" in API group "" in the namespace "default"',
    });
    await admin.of(Secret).in('default').get('s');
    expect(expected()).toHaveLength(1);
  });
});

describe('a node', () => {
  const volume = (name: string, node: string, more: object = {}) => ({
    metadata: {
      name,
      labels: { 'volume.kubernetes.io/node': node },
      annotations: { 'pv.kubernetes.io/provisioned-by': 'quarterdeck.io/node-directory' },
    },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: `/volumes/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
      ...more,
    },
  });

  it('loses its taint when it is ready, though it may not remove it itself', async () => {
    const taintsOf = async () => (await admin.of(Node).get('n1')).spec.taints ?? [];
    await cluster.eventually(async () => (await taintsOf()).length === 0);
    const node = cluster.clientFor(nodeUser('n1'));
    const changes = { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } };
    await expect(node.of(Node).patch('n1', { type: 'merge', changes } as any)).rejects.toMatchObject(
      forbidden('node "n1" is not allowed to modify taints'),
    );
    expect(expected()).toHaveLength(1);
  });

  it('writes about itself and its pods, and not about others', async () => {
    await replicaSet('web');
    await cluster.eventually(async () => (await podsOf('web')).every(({ status }) => status.phase === 'Running'));
    const pod = (await podsOf('web'))[0]!;
    const other = cluster.clientFor(nodeUser(pod.spec.nodeName === 'n1' ? 'n2' : 'n1'));
    const { name = '' } = pod.metadata;
    const failed = { type: 'merge', changes: { status: { phase: 'Failed' } } } as any;
    await expect(other.of(Pod).in('default').patchStatus(name, failed)).rejects.toMatchObject(
      forbidden('can only update pod status for pods with spec.nodeName set to itself'),
    );
    // It reads all pods, for the network policies that it enforces, and no secrets.
    expect((await other.of(Pod).list()).items).not.toHaveLength(0);
    await expect(other.of(Secret).list()).rejects.toMatchObject(forbidden('cannot list resource "secrets"'));
    expected();
  });

  it('finds its volumes by label, and no others', async () => {
    for (const node of ['n1', 'n2']) await admin.of(PersistentVolume).create(volume(`of-${node}`, node) as any);
    const volumes = cluster.clientFor(nodeUser('n1')).of(PersistentVolume);
    const own = await volumes.list({ labelSelector: 'volume.kubernetes.io/node=n1' });
    expect(own.items.map(({ metadata }) => metadata.name)).toEqual(['of-n1']);
    (await volumes.watch({ labelSelector: 'volume.kubernetes.io/node=n1' })).close();
    for (const labelSelector of ['volume.kubernetes.io/node=n2', 'volume.kubernetes.io/node in (n1,n2)', '']) {
      await expect(volumes.list({ labelSelector })).rejects.toMatchObject(forbidden('cannot list'));
    }
    await expect(volumes.get('of-n2')).rejects.toMatchObject(forbidden('no relationship found'));
    const grown = { type: 'merge', changes: { spec: { capacity: { storage: '9Gi' } } } } as any;
    await expect(volumes.patch('of-n1', grown)).rejects.toMatchObject(forbidden('can only remove the finalizer'));
    await expect(volumes.delete('of-n1')).rejects.toMatchObject(forbidden('cannot delete'));
    expected();
  });

  it('gets a serving certificate for its own name', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const subject = { commonName: 'system:node:n1', organization: 'system:nodes' };
    const request = btoa(newRequest({ subject, names: ['n1'] }, privateKey));
    const usages = ['digital signature', 'server auth'];
    const spec = { request, signerName: 'kubernetes.io/kubelet-serving', usages };
    await cluster
      .clientFor(nodeUser('n1'))
      .of(CertificateSigningRequest)
      .create({ metadata: { name: 'serving' }, spec } as any);
    const found = () => admin.of(CertificateSigningRequest).get('serving');
    await cluster.eventually(async () => (await found()).status.certificate !== undefined);
    expect((await found()).status.conditions).toMatchObject([{ type: 'Approved', reason: 'AutoApproved' }]);
  });
});

describe('simulated nodes', () => {
  it('share informers of pods, nodes and volumes, and nothing else', async () => {
    const simulation = cluster.clientFor(SIMULATED_NODES);
    expect((await simulation.of(Node).list()).items).toHaveLength(2);
    await expect(simulation.of(Secret).list()).rejects.toMatchObject(forbidden('cannot list resource "secrets"'));
    await expect(simulation.of(Node).delete('n1')).rejects.toMatchObject(forbidden('cannot delete resource "nodes"'));
    expected();
  });
});
