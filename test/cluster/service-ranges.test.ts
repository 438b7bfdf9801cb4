import { afterEach, beforeEach, expect, it } from 'vitest';
import { isApiError } from '../../src/api/errors.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { ServiceCIDR } from '../../src/kinds/groups/networking/service-cidr.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

const ranges = () => cluster.client.of(ServiceCIDR);
const services = () => cluster.client.of(Service).in('default');
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';

/** The Ready condition of the range `more`; undefined when it is gone. */
async function ready(): Promise<string | undefined> {
  try {
    const { status } = await ranges().get('more');
    const condition = status.conditions?.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}

it('a further range becomes ready, and stays until its last address is released', async () => {
  await ranges().create({ metadata: { name: 'more' }, spec: { cidrs: ['172.30.0.0/24'] } } as never);
  await cluster.clock.advance(1000);
  expect(await ready()).toBe('True ');
  expect((await ranges().get('more')).metadata.finalizers).toEqual([FINALIZER]);
  const spec = { clusterIP: '172.30.0.7', ports: [{ port: 80 }] };
  await services().create({ metadata: { name: 'a' }, spec } as never);
  await ranges().delete('more');
  await cluster.clock.advance(60_000);
  expect(await ready()).toBe('False Terminating');
  await services().delete('a');
  await cluster.clock.advance(1000);
  expect(await ready()).toBeUndefined();
});
