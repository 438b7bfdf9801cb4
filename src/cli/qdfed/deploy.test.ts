import { expect, it } from 'vitest';
import type { Cluster } from '../../../test/support/cluster/cluster.ts';
import { startLivingCluster } from '../../../test/support/cluster/living-cluster.ts';
import { systemRandom } from '../../base/random.ts';
import type { ControlPlane } from '../../federation/tool/control-plane.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import type { Steps } from '../output/steps.ts';
import { deploy } from './deploy.ts';
import { find } from './steps/ensure.ts';

const PLANE: ControlPlane = {
  ...{ name: 'fed', namespace: 'federation-system', image: 'qd', program: ['qd'], etcdImage: undefined },
  dns: { provider: 'coredns', zone: 'example.com.', config: undefined },
  ...{ serviceType: 'NodePort', advertiseAddress: undefined, hasBasicAuth: false, hasTokenAuth: false },
  storage: { capacity: '10Gi', className: undefined },
  ...{ serverOverrides: new Map(), managerOverrides: new Map() },
};
const NS = PLANE.namespace;

/** Titles and results of steps. */
class Told implements Steps {
  readonly lines: string[] = [];

  async run<T>(title: string, task: (say: (detail: string) => void) => Promise<T>): Promise<T> {
    let detail = '';
    const result = await task((text) => {
      detail = text;
    });
    this.lines.push(`${title}: ${detail}`);
    return result;
  }

  line(text: string): void {
    this.lines.push(text);
  }
}

/** Runs a deployment to its end while the clock of the cluster advances. */
async function deployed(cluster: Cluster, told: Told, plane = PLANE, limitMs = 5_000) {
  const { client: host, clock } = cluster;
  let isSettled = false;
  const running = deploy({
    ...{ plane, host, steps: told, clock, random: systemRandom, limitMs, answers: async () => undefined },
  }).finally(() => {
    isSettled = true;
  });
  running.catch(() => undefined);
  while (!isSettled) await clock.advance(100);
  return running;
}

it('says what is missing when the claim cannot be bound, and continues when it is run again', async () => {
  const cluster = await startLivingCluster();
  const { client } = cluster;
  await client.of(Node).create({ metadata: { name: 'n' } });
  const addresses = [
    { type: 'Hostname', address: 'n' },
    { type: 'InternalIP', address: '192.0.2.1' },
  ];
  await client.of(Node).patchStatus('n', { type: 'merge', changes: { status: { addresses } } });
  try {
    cluster.becomesReady = () => false;
    const withoutClass = { ...PLANE, storage: { capacity: '10Gi', className: '' } };
    await expect(deployed(cluster, new Told(), withoutClass)).rejects.toThrow(
      'the claim fed-apiserver-etcd-claim is not bound: the host cluster has no default storage class. ' +
        'Create a persistent volume of at least 10Gi with the access mode ReadWriteOnce',
    );
    const volume = { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
    await client.of(PersistentVolume).create({
      metadata: { name: 'v' },
      spec: { ...volume, persistentVolumeReclaimPolicy: 'Delete' },
    } as never);
    await cluster.eventually(async () => {
      const { status } = await client.of(PersistentVolumeClaim).in(NS).get('fed-apiserver-etcd-claim');
      return status?.phase === 'Bound';
    });
    cluster.becomesReady = () => true;
    const told = new Told();
    const { server } = await deployed(cluster, told, withoutClass);
    const { nodePort } = (await client.of(Service).in(NS).get('fed-apiserver')).spec.ports![0]!;
    expect(server).toBe(`https://192.0.2.1:${nodePort}`);
    expect(told.lines[0]).toBe('namespace: federation-system (exists)');
    expect(told.lines.at(-1)).toBe('waiting: the API server and the controller manager are ready');
  } finally {
    await cluster.stop();
  }
});

it('waits for the address of a load balancer, and a later attempt may use NodePort', async () => {
  const cluster = await startLivingCluster();
  const { client } = cluster;
  const plane = { ...PLANE, storage: undefined, serviceType: 'LoadBalancer', advertiseAddress: undefined } as const;
  try {
    await expect(deployed(cluster, new Told(), plane)).rejects.toThrow(
      'the load balancer of the service fed-apiserver has no address; ' +
        'use --api-server-service-type NodePort on a host cluster without load balancers',
    );
    const services = client.of(Service).in(NS);
    const inUse = { type: 'PortInUse', status: 'True', reason: 'PortInUse', message: 'port 443 is in use' };
    const conditions = [{ ...inUse, lastTransitionTime: '2030-01-01T00:00:00Z' }];
    await services.patchStatus('fed-apiserver', { type: 'merge', changes: { status: { conditions } } });
    await expect(deployed(cluster, new Told(), plane)).rejects.toThrow('has no address (port 443 is in use); use');
    const ingress = [{ ip: '2001:db8::1' }];
    await services.patchStatus('fed-apiserver', {
      ...{ type: 'merge', changes: { status: { conditions: null, loadBalancer: { ingress } } } },
    } as never);
    expect((await deployed(cluster, new Told(), plane)).server).toBe('https://[2001:db8::1]');
    const node = { ...plane, serviceType: 'NodePort', advertiseAddress: '192.0.2.1' } as const;
    expect((await deployed(cluster, new Told(), node)).server).toMatch(/^https:\/\/192\.0\.2\.1:3\d{4}$/);
  } finally {
    await cluster.stop();
  }
});

it('rule 5: deleting the namespace removes everything but the volume', async () => {
  const cluster = await startLivingCluster();
  const { client } = cluster;
  const plane = { ...PLANE, advertiseAddress: '192.0.2.1', storage: { capacity: '10Gi', className: '' } };
  const volume = { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  await client.of(PersistentVolume).create({
    metadata: { name: 'v' },
    spec: { ...volume, persistentVolumeReclaimPolicy: 'Delete' },
  } as never);
  try {
    await deployed(cluster, new Told(), plane);
    await client.of(Namespace).delete(NS);
    await cluster.eventually(async () => (await find(client, Namespace, NS)) === undefined);
    const left = await client.of(PersistentVolume).get('v');
    expect([left.spec.persistentVolumeReclaimPolicy, left.status?.phase]).toEqual(['Retain', 'Released']);
  } finally {
    await cluster.stop();
  }
});
