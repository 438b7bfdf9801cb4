import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.ts';

const COUNTS = [100, 1_000, 2_000, 5_000, 20_000];
const SETTLE_MS = 2_000;

/** Nodes and tables walk the containers of a pod, and their statuses. */
export const manyContainers: Attack = {
  name: 'many containers',
  async run({ tenant }) {
    const path = '/api/v1/namespaces/tenant/pods';
    for (const count of COUNTS) {
      const containers = Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'busybox:1.36' }));
      await tenant.send('POST', path, { body: { metadata: { name: `many-${count}` }, spec: { containers } } });
      await wait(SETTLE_MS);
      await tenant.send('GET', path, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } });
      await tenant.send('DELETE', `${path}/many-${count}?gracePeriodSeconds=0`);
    }
  },
};
