import { beforeAll, expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { testAuthority } from '../../../../../test/support/tls.ts';
import { Namespace } from '../../core/namespace.ts';
import { ClusterTrustBundle, trustAnchorProblems } from './cluster-trust-bundle.ts';

const asked = { apiVersion: 'certificates.k8s.io/v1beta1', namespace: '' };
let ca: string;
let other: string;
let leaf: string;

beforeAll(async () => {
  const authority = await testAuthority('one');
  ca = authority.ca;
  leaf = (await authority.server()).cert;
  other = (await testAuthority('two')).ca;
});

async function create(name: string, spec: object) {
  const api = await testServer([Namespace, ClusterTrustBundle]);
  return api.create('clustertrustbundles', { metadata: { name }, spec }, asked);
}

it('a bundle is stored with a signer or without one', async () => {
  expect((await create('plain', { trustBundle: ca + other })).spec).toEqual({ trustBundle: ca + other });
  const signed = { signerName: 'example.com/signer', trustBundle: ca };
  expect((await create('example.com:signer:v1', signed)).spec).toEqual(signed);
});

it('a bundle can be selected by its signer', async () => {
  const api = await testServer([Namespace, ClusterTrustBundle]);
  const signed = { signerName: 'example.com/signer', trustBundle: ca };
  await api.create('clustertrustbundles', { metadata: { name: 'plain' }, spec: { trustBundle: ca } }, asked);
  await api.create('clustertrustbundles', { metadata: { name: 'example.com:signer:a' }, spec: signed }, asked);
  const options = { fieldSelector: 'spec.signerName=example.com/signer' };
  const { items } = await api.list('clustertrustbundles', { ...asked, options });
  expect(items.map(({ object }) => object.metadata.name)).toEqual(['example.com:signer:a']);
});

it.each([
  ['a:b', () => ({ trustBundle: ca }), 'ClusterTrustBundle without signer name must not have ":" in its name'],
  [
    'other',
    () => ({ signerName: 'example.com/signer', trustBundle: ca }),
    'ClusterTrustBundle for signerName example.com/signer must be named with prefix example.com:signer:',
  ],
  ['x', () => ({ signerName: 'nodomain', trustBundle: ca }), 'must be a fully qualified domain and path'],
  ['x', () => ({ trustBundle: '' }), 'at least one trust anchor must be provided'],
  ['x', () => ({ trustBundle: leaf }), 'entry 0 does not have the CA bit set'],
  ['x', () => ({ trustBundle: ca + other + ca }), 'duplicate trust anchor (indices [0 2])'],
  ['x', () => ({ trustBundle: ca.replaceAll('CERTIFICATE', 'KEY') }), 'entry 0 has bad block type: KEY'],
  ['x', () => ({ trustBundle: ca.replace('-----\n', '-----\nA: b\n\n') }), 'entry 0 has PEM block headers'],
  ['x', () => ({ trustBundle: `${ca}${' '.repeat(1024 * 1024)}` }), 'may not be more than 1048576 bytes'],
])('a bundle is rejected as %s', async (name, spec, message) => {
  await expect(create(name, spec())).rejects.toThrow(message);
});

it('a bundle keeps its signer', async () => {
  const api = await testServer([Namespace, ClusterTrustBundle]);
  await api.create('clustertrustbundles', { metadata: { name: 'x' }, spec: { trustBundle: ca } }, asked);
  const changed = api.patch('clustertrustbundles', 'x', { spec: { signerName: 'example.com/signer' } }, asked);
  await expect(changed).rejects.toThrow('field is immutable');
});

it('an error message names at most a hundred problems of a bundle', () => {
  const block = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
  expect(trustAnchorProblems(block.repeat(1_000))).toHaveLength(100);
});
