import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { NO_RULES, type PortRules, type RuleApplier } from '../rules/rule-set.ts';
import { withLocalApi } from './local-api.ts';
import { UserspaceProxy } from './userspace-proxy.ts';

const HOST = '127.0.0.1';

let servers: Server[];
let applier: RuleApplier;
let port: number;
beforeEach(async () => {
  servers = [];
  port = await freePort();
  const proxy = new UserspaceProxy({ clock: systemClock, random: systemRandom, log: silent });
  applier = withLocalApi(proxy, { host: HOST, port });
});
afterEach(async () => {
  await applier.close();
  for (const server of servers) server.close();
});

/** Starts a server that answers each connection with its name. */
const start = async (name: string): Promise<number> => {
  const server = createServer((socket) => socket.end(name));
  servers.push(server);
  server.listen(0, HOST);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const stop = async (server: Server) => new Promise((resolve) => server.close(resolve));
const answer = async () => text(connect({ host: HOST, port, allowHalfOpen: false })).catch((error) => error.code);

const apply = (ports: readonly number[], service = 'default/kubernetes') => {
  const endpoints = ports.map((each) => ({ address: HOST, port: each, isLocal: false }));
  const rules: PortRules = {
    id: `${service}:https/tcp/4`,
    family: 4,
    protocol: 'tcp',
    // An address that this machine does not have.
    clusterIP: '192.0.2.1',
    port: 443,
    affinitySeconds: undefined,
    internal: { endpoints, otherwise: 'reject' },
    external: undefined,
    serving: endpoints,
  };
  const services = new Map([[service, { ...NO_RULES, ports: [rules] }]]);
  return applier.apply({ services, serviceRanges: ['192.0.2.0/24'] });
};

it('leads to the servers of the API, as they come and go, and past those that are gone', async () => {
  expect(await answer()).toBe('ECONNREFUSED');
  const [first, second] = [await start('first'), await start('second')];
  await apply([first]);
  expect(await answer()).toBe('first');
  await apply([first, second]);
  await stop(servers[0]!);
  for (let calls = 0; calls < 5; calls++) expect(await answer()).toBe('second');
  const third = await start('third');
  await apply([third]);
  expect(await answer()).toBe('third');
  await apply([]);
  expect(await answer()).toBe('ECONNREFUSED');
});

it('leads to no other Service', async () => {
  await apply([await start('other')], 'team/kubernetes');
  expect(await answer()).toBe('ECONNREFUSED');
});
