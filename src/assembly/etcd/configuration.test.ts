import { expect, test } from 'vitest';
import { memberConfiguration } from './configuration.ts';
import { memberPaths } from './paths.ts';

const address = { host: '192.0.2.1', clientPort: 2_379, peerPort: 2_380 };
const paths = memberPaths('/data, with=separators');
const configuration = (joins: readonly { name: string; url: string }[]) =>
  memberConfiguration({ name: 'one', joins }, address, paths) as Record<string, unknown>;

test('members and clients show certificates, and etcd listens on one address', () => {
  const found = configuration([]);
  expect(found['listen-client-urls']).toBe('https://192.0.2.1:2379');
  expect(found['listen-peer-urls']).toBe('https://192.0.2.1:2380');
  for (const side of ['client', 'peer']) {
    expect(found[`${side}-transport-security`]).toEqual({
      'client-cert-auth': true,
      'trusted-ca-file': '/data, with=separators/etcd/pki/ca.crt',
      'cert-file': '/data, with=separators/etcd/pki/member.crt',
      'key-file': '/data, with=separators/etcd/pki/member.key',
    });
  }
});

test('the first member begins a cluster, a further one joins it', () => {
  expect(configuration([])).toMatchObject({
    'initial-cluster': 'one=https://192.0.2.1:2380',
    'initial-cluster-state': 'new',
    'pre-vote': true,
  });
  expect(configuration([{ name: 'two', url: 'https://192.0.2.2:2380' }])).toMatchObject({
    'initial-cluster': 'two=https://192.0.2.2:2380,one=https://192.0.2.1:2380',
    'initial-cluster-state': 'existing',
  });
});
