import { expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { Namespace } from '../../core/namespace.ts';
import { APIService } from './api-service.ts';

const ASKED = { apiVersion: 'apiregistration.k8s.io/v1', namespace: '' };
const spec = { group: 'a.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 };
const service = { namespace: 'n', name: 's' };

it('a local APIService is available at once, and another one has port 443 by default', async () => {
  const api = await testServer([Namespace, APIService]);
  const local = await api.create('apiservices', { metadata: { name: 'v1.a.example' }, spec }, ASKED);
  expect(local.status.conditions).toMatchObject([{ type: 'Available', status: 'True', reason: 'Local' }]);
  const body = { metadata: { name: 'v2.a.example' }, spec: { ...spec, version: 'v2', service } };
  const other = await api.create('apiservices', body, ASKED);
  expect([other.spec.service.port, other.status]).toEqual([443, {}]);
});

it.each([
  ['a name that is not version and group', 'other', {}, 'must be `spec.version+"."+spec.group`: "v1.a.example"'],
  [
    'an empty group',
    'v2.',
    { group: '', version: 'v2' },
    'only v1 may have an empty group and it better be legacy kube',
  ],
  ['a group that is no name', 'v1.A_b', { group: 'A_b' }, 'spec.group: Invalid value: "A_b"'],
  ['a version that is no label', '1.a.example', { version: '1' }, 'spec.version: Invalid value: "1"'],
  ['a priority of 0', 'v1.a.example', { groupPriorityMinimum: 0 }, 'must be positive and less than 20000'],
  ['a priority that is too high', 'v1.a.example', { versionPriority: 1001 }, 'must be positive and less than 1000'],
  ['a bundle without a Service', 'v1.a.example', { caBundle: 'YQ==' }, 'local APIServices may not have a caBundle'],
  ['a Service without a name', 'v1.a.example', { service: { namespace: 'n' } }, 'spec.service.name: Required value'],
  [
    'an invalid port',
    'v1.a.example',
    { service: { ...service, port: 0 } },
    'spec.service.port: Invalid value: 0: port is not valid',
  ],
  [
    'both ways of trust',
    'v1.a.example',
    { service, caBundle: 'YQ==', insecureSkipTLSVerify: true },
    'may not be true if caBundle is present',
  ],
])('rejects %s', async (_, name, more, message) => {
  const api = await testServer([Namespace, APIService]);
  const created = api.create('apiservices', { metadata: { name }, spec: { ...spec, ...more } }, ASKED);
  await expect(created).rejects.toThrow(message);
});
