/**
 * Requires that proxies do not lead to loopback or link-local addresses of the machine, whatever the status of an
 * object says.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STRICT_GUARD } from '../../src/base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { httpsConnection } from '../../src/server/outbound/nodes/https-connection.ts';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };

let running: StreamServer;
let victim: Server;
let port: number;
let asked = 0;

beforeAll(async () => {
  running = await startStreamServer(hostNode(), {}, STRICT_GUARD);
  victim = createServer((_, response) => {
    asked++;
    response.end('secret');
  }).listen(0, '127.0.0.1');
  await once(victim, 'listening');
  port = (victim.address() as AddressInfo).port;
});

afterAll(async () => {
  victim.close();
  await running.stop();
});

async function ask(path: string) {
  const headers = { authorization: 'Bearer admin' };
  const call = request({ host: '127.0.0.1', port: running.port, path, headers, ca: running.ca, agent: false }).end();
  const [response] = await once(call, 'response');
  return { code: response.statusCode, body: JSON.parse(await text(response)) };
}

const ADDRESSES = ['127.0.0.1', '127.8.9.10', '169.254.169.254', '0.0.0.0', '224.0.0.1', '::1', 'fe80::1'];

describe.each(ADDRESSES)('%s', (address) => {
  const name = `at-${address.replace(/[^a-z0-9]/g, '-')}-x`;

  it('is not proxied to as the address of a pod', async () => {
    await running.createPod(name, {}, { podIP: address });
    expect(await ask(`/api/v1/namespaces/default/pods/${name}:${port}/proxy/victim`)).toMatchObject({
      code: 400,
      body: { reason: 'BadRequest', message: 'address not allowed' },
    });
    expect(asked).toBe(0);
  });

  it('is not proxied to as the address of a node', async () => {
    const node = { verb: 'create', apiVersion: 'v1', plural: 'nodes', user: ADMIN } as const;
    await running.server.handle({ ...node, body: { apiVersion: 'v1', kind: 'Node', metadata: { name } } });
    await running.server.handle({
      ...{ ...node, verb: 'update', name, subresource: 'status' },
      body: { metadata: { name }, status: { addresses: [{ type: 'InternalIP', address }] } },
    });
    for (const at of [`${name}:${port}`, name]) {
      expect(await ask(`/api/v1/nodes/${at}/proxy/victim`)).toMatchObject({
        code: 400,
        body: { reason: 'BadRequest', message: 'address not allowed' },
      });
    }
    expect(asked).toBe(0);
  });

  it('is not dialled as that of an agent', async () => {
    const connection = httpsConnection({
      addressOf: () => ({ host: address, port }),
      identity: async () => ({ ca: '', cert: '', key: '' }),
      ...{ guard: STRICT_GUARD, clock: systemClock },
    });
    await expect(connection.endpoint(name, undefined)).rejects.toThrow('address not allowed');
    expect(asked).toBe(0);
  });
});
