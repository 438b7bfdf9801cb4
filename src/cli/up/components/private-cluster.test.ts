import { expect, it } from 'vitest';
import { isPrivateCluster } from './private-cluster.ts';

const DEFAULTS = {
  bindAddress: '127.0.0.1',
  insecurePort: 0,
  anonymousAuth: false,
  tokenAuthFile: undefined,
  basicAuthFile: undefined,
  clientCaFile: undefined,
  requestheaderClientCaFile: undefined,
  oidcIssuerUrl: undefined,
  store: 'embedded',
} as const;

it.each([{}, { bindAddress: '::1' }, { bindAddress: '127.1.2.3' }])('is private with %j', (settings) => {
  expect(isPrivateCluster({ ...DEFAULTS, ...settings })).toBe(true);
});

it.each([
  { bindAddress: '0.0.0.0' },
  { bindAddress: '::' },
  { bindAddress: '192.0.2.1' },
  { insecurePort: 8080 },
  { anonymousAuth: true },
  { tokenAuthFile: 'tokens.csv' },
  { basicAuthFile: 'passwords.csv' },
  { clientCaFile: 'ca.crt' },
  { requestheaderClientCaFile: 'ca.crt' },
  { oidcIssuerUrl: 'https://issuer.example' },
  { store: 'etcd' as const },
])('is not private with %j', (settings) => {
  expect(isPrivateCluster({ ...DEFAULTS, ...settings })).toBe(false);
});
