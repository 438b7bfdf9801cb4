import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../test/support/scripted-api.ts';
import { createClient } from '../../client/client.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { memberConnection } from './member-connection.ts';
import { openCluster } from './open-cluster.ts';

it('a member is reached with the kubeconfig in its secret', async () => {
  const api = new ScriptedApi();
  const kubeconfig = JSON.stringify({
    'current-context': 'east',
    contexts: [{ name: 'east', context: { cluster: 'east', user: 'east' } }],
    clusters: [{ name: 'east', cluster: { server: 'https://192.0.2.1:6443' } }],
    users: [{ name: 'east', user: { token: 'secret' } }],
  });
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  api.put('secrets', { metadata: { name: 'east', namespace: 'f' }, data } as never);
  api.put('secrets', { metadata: { name: 'empty', namespace: 'f' } });
  const options = { host: createClient(api), namespace: 'f', signal: new AbortController().signal };
  const cluster = (spec: object) => ({ metadata: { name: 'east' }, spec }) as never;
  expect(await memberConnection(cluster({ secretRef: { name: 'east' } }), options)).toEqual({
    ...{ server: 'https://192.0.2.1:6443', token: 'secret' },
  });
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.2:6443' }];
  expect(await memberConnection(cluster({ serverAddressByClientCIDRs: addresses }), options)).toEqual({
    ...{ server: 'https://192.0.2.2:6443' },
  });
  await expect(memberConnection(cluster({}), options)).rejects.toThrow('has neither a secret nor an address');
  await expect(memberConnection(cluster({ secretRef: { name: 'empty' } }), options)).rejects.toThrow(
    'has no kubeconfig',
  );
});

it('what a member answers is checked', async () => {
  const server = createServer((_, response) => response.end('{"kind":"NodeList","items":[null]}')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const peer = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { transport, close } = openCluster({ server: `http://${peer}` });
  await expect(createClient(transport).of(Node).list()).rejects.toThrow(
    `${peer} sent an object with malformed metadata`,
  );
  close();
  server.close();
});
