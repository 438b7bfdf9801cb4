import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { createClient } from '../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { allKinds } from '../../kinds/all.ts';
import { IngressController } from './controller.ts';

let api: TestServer;
let controller: IngressController;

beforeEach(async () => {
  api = await testServer(allKinds, { authorization: ['RBAC'], defaultRoles: true });
  controller = new IngressController({
    client: createClient(directTransport(api.server.direct(INGRESS_CONTROLLER))),
    ...{ clock: systemClock, random: systemRandom, log: silent, address: '192.0.2.1', use: () => {} },
    movedPorts: [{ usual: 80, used: 34_567 }],
  });
  await controller.start();
});
afterEach(() => controller.stop());

it('says where it listens when something else has the usual port', async () => {
  const networking = { apiVersion: 'networking.k8s.io/v1' };
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const spec = { ingressClassName: 'quarterdeck', defaultBackend: backend };
  await api.create('ingresses', { metadata: { name: 'web' }, spec }, networking);
  const ports = [
    { port: 80, protocol: 'TCP', error: 'PortInUse' },
    { port: 34_567, protocol: 'TCP' },
  ];
  await expect
    .poll(async () => (await api.get('ingresses', 'web', networking)).status?.loadBalancer)
    .toEqual({ ingress: [{ ip: '192.0.2.1', ports }] });
  await expect
    .poll(async () => (await api.list('events')).items.map((item) => JSON.parse(String(item.json()))))
    .toMatchObject([{ involvedObject: { kind: 'IngressClass', name: 'quarterdeck' }, reason: 'PortInUse' }]);
});
