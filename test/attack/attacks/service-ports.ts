import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.ts';

const PODS = 300;
const PORTS = 30_000;
const SETTLE_MS = 3_000;

/** Endpoints are ports times pods; the table column of a service lists its ports. */
export const servicePorts: Attack = {
  name: 'service ports',
  async run({ tenant }) {
    const pods = '/api/v1/namespaces/tenant/pods';
    const services = '/api/v1/namespaces/tenant/services';
    const spec = { containers: [{ name: 'main', image: 'busybox:1.36' }] };
    const create = (i: number) =>
      tenant.send('POST', pods, { body: { metadata: { name: `port-${i}`, labels: { app: 'ports' } }, spec } });
    await Promise.all(Array.from({ length: PODS }, (_, i) => create(i)));
    await wait(SETTLE_MS);
    const ports = Array.from({ length: PORTS }, (_, i) => ({ name: `p${i}`, port: i + 1 }));
    const body = { metadata: { name: 'ports' }, spec: { selector: { app: 'ports' }, ports } };
    await tenant.send('POST', services, { body });
    await wait(SETTLE_MS);
    await tenant.send('GET', services, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } });
    await tenant.send('DELETE', `${services}/ports`);
    await tenant.send('DELETE', `${pods}?gracePeriodSeconds=0`);
  },
};
