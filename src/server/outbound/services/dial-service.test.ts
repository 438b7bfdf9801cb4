import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import type { AdmissionPlugin } from '../../operations/admission/plugin.ts';
import type { Outbound } from '../ports.ts';
import { dialService } from './dial-service.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

let api: TestServer;
/** The ports that a plugin of the server has. */
let core: Ports;
let listener: Server;
let port: number;
let connections = 0;

const guard = new DialGuard({
  ownAddresses: () => ['192.0.2.7'],
  allowedRanges: [],
  resolve: (name, done) => done(null, [{ address: name === 'machine.example' ? '192.0.2.7' : '127.0.0.1', family: 4 }]),
});

beforeEach(async () => {
  listener = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  port = (listener.address() as AddressInfo).port;
  connections = 0;
  const plugin: AdmissionPlugin = {
    ...{ name: 'Core', handles: () => true },
    admit(given) {
      core = given;
    },
  };
  api = await testServer(allKinds, { dialGuard: guard, admission: [plugin] });
});

afterEach(() => {
  api.server.close();
  listener.close();
});

const dial = () => dialService(core, { namespace: 'default', name: 'hook', port });

it.each(['localhost', 'inside.example', '127.0.0.1', '169.254.169.254', 'machine.example', '192.0.2.7'])(
  'rejects an ExternalName Service that leads to %s',
  async (externalName) => {
    const spec = { type: 'ExternalName', externalName, ports: [{ port }] };
    await api.create('services', { metadata: { name: 'hook' }, spec });
    await expect(dial()).rejects.toThrow('address not allowed');
    expect(connections).toBe(0);
  },
);

it('rejects an endpoint without a node at an address of this machine, and uses the node otherwise', async () => {
  await api.create('services', { metadata: { name: 'hook' }, spec: { ports: [{ port }] } });
  const endpoints = (address: object) => ({
    metadata: { name: 'hook' },
    subsets: [{ addresses: [{ ip: '192.0.2.7', ...address }], ports: [{ port }] }],
  });
  await api.create('endpoints', endpoints({}));
  await expect(dial()).rejects.toThrow('192.0.2.7 is an address of this machine or of the API server');
  const dialled: string[] = [];
  api.reachNodesBy({
    dial: async ({ node, address }: { node: string; address: string }) => dialled.push(`${node} ${address}`),
  } as never);
  await api.update('endpoints', endpoints({ nodeName: 'n1' }));
  await dial();
  expect(dialled).toEqual(['n1 192.0.2.7']);
});
