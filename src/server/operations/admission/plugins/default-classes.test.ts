/** Plugins for storage, ingresses and nodes. */
import { expect, it } from 'vitest';
import { admitting, putStatus, rejection } from '../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../test/support/server.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';

const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});

const storageClass = (server: TestServer, name: string, isDefault: boolean, more: object = {}) => {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': String(isDefault) };
  const body = { metadata: { name, annotations }, provisioner: 'example.com/disk', ...more };
  return server.create('storageclasses', body, { apiVersion: 'storage.k8s.io/v1', namespace: '' });
};

it('DefaultStorageClass assigns the newest default to claims without a class', async () => {
  const server = await admitting([defaultStorageClass]);
  const classOf = async (name: string, spec: object = {}) =>
    (await server.create('persistentvolumeclaims', claim(name, spec))).spec.storageClassName;
  expect(await classOf('a')).toBeUndefined();
  await storageClass(server, 'slow', false);
  await storageClass(server, 'old', true);
  expect(await classOf('b')).toBe('old');
  await server.clock.advance(2000);
  await storageClass(server, 'new', true);
  expect(await classOf('c')).toBe('new');
  expect(await classOf('d', { storageClassName: '' })).toBe('');
  expect(await classOf('e', { storageClassName: 'slow' })).toBe('slow');
});

it('DefaultIngressClass assigns the default to ingresses without a class', async () => {
  const server = await admitting([defaultIngressClass]);
  const v1 = { apiVersion: 'networking.k8s.io/v1' };
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
  const body = { metadata: { name: 'web', annotations }, spec: { controller: 'example.com/web' } };
  await server.create('ingressclasses', body, { ...v1, namespace: '' });
  const spec = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
  const made = await server.create('ingresses', { metadata: { name: 'a' }, spec }, v1);
  expect(made.spec.ingressClassName).toBe('web');
  const old = { metadata: { name: 'b', annotations: { 'kubernetes.io/ingress.class': 'x' } }, spec };
  expect((await server.create('ingresses', old, v1)).spec.ingressClassName).toBeUndefined();
});

it('StorageObjectInUseProtection adds finalizers to claims and volumes', async () => {
  const server = await admitting([storageObjectInUseProtection]);
  const made = await server.create('persistentvolumeclaims', claim('a'));
  expect(made.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await server.delete('persistentvolumeclaims', 'a');
  expect((await server.get('persistentvolumeclaims', 'a')).metadata.deletionTimestamp).toBeDefined();
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  const volume = { metadata: { name: 'v', finalizers: ['kubernetes.io/pv-protection'] }, spec };
  const { metadata } = await server.create('persistentvolumes', volume, { namespace: '' });
  expect(metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
});

it('PersistentVolumeClaimResize allows a claim to grow when it is bound and its class allows it', async () => {
  const server = await admitting([persistentVolumeClaimResize]);
  await storageClass(server, 'fixed', false);
  await storageClass(server, 'elastic', false, { allowVolumeExpansion: true });
  const grow = (name: string) =>
    server.patch('persistentvolumeclaims', name, { spec: { resources: { requests: { storage: '2Gi' } } } });
  for (const name of ['fixed', 'elastic']) {
    await server.create('persistentvolumeclaims', claim(name, { storageClassName: name, volumeName: 'v' }));
    await putStatus(server, 'persistentvolumeclaims', name, { phase: 'Bound' });
  }
  expect(await rejection(grow('fixed'))).toBe(
    'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
  expect((await grow('elastic')).spec.resources.requests.storage).toBe('2Gi');
});

it('TaintNodesByCondition taints a new node as not ready', async () => {
  const server = await admitting([taintNodesByCondition]);
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const plain = await server.create('nodes', { metadata: { name: 'a' } }, { namespace: '' });
  expect(plain.spec.taints).toEqual([taint]);
  const own = { metadata: { name: 'b' }, spec: { taints: [{ ...taint, value: 'x' }] } };
  expect((await server.create('nodes', own, { namespace: '' })).spec.taints).toHaveLength(1);
});
