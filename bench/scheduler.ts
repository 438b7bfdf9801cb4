/**
 * Measures how fast the scheduler assigns nodes to pods, in a cluster of 5,000 nodes: through the real API in one
 * process, on the embedded store, from its start until every pod has its node. `decisions` is deciding and assuming
 * alone, without the API.
 */

import { silent } from '../src/base/log.ts';
import { systemRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/time/clock.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { SCHEDULER } from '../src/client/component-users.ts';
import { createEventRecorder } from '../src/client/events/event-recorder.ts';
import { InformerFactory } from '../src/client/informer/informer-factory.ts';
import { directTransport } from '../src/client/transport/direct-transport.ts';
import { allKinds } from '../src/kinds/all.ts';
import { Namespace } from '../src/kinds/groups/core/namespace.ts';
import { Node } from '../src/kinds/groups/core/node/node.ts';
import { Pod } from '../src/kinds/groups/core/pod/pod.ts';
import { Cluster } from '../src/scheduler/cluster/cluster.ts';
import { PodInfo } from '../src/scheduler/cluster/pod-info.ts';
import { Storage } from '../src/scheduler/cluster/storage.ts';
import type { World } from '../src/scheduler/cluster/world.ts';
import { decide } from '../src/scheduler/framework/decide.ts';
import { NO_LABELS } from '../src/scheduler/objects.ts';
import { plugins } from '../src/scheduler/plugins/all.ts';
import { Scheduler } from '../src/scheduler/scheduler.ts';
import { createServer } from '../src/server/index.ts';
import { openEmbeddedStore } from '../src/store/index.ts';

export interface SchedulerFigures {
  /** Pods a second. */
  readonly bound: number;
  readonly decisions: number;
}

type Sort = 'plain' | 'anti-affinity';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const NODES = 5_000;
const CONCURRENT_CREATES = 200;
/** Number of pods in a group, which exclude each other. */
const GROUP = 500;

export async function measureScheduler(sort: Sort, count: number, directory: string): Promise<SchedulerFigures> {
  const store = await openEmbeddedStore({ clock: systemClock, log: silent, directory });
  const server = await createServer({
    ...{ store, kinds: allKinds, clock: systemClock },
    ...{ authorization: ['Node', 'RBAC'], defaultRoles: true },
  });
  const client = createClient(directTransport(server.direct(ADMIN)));
  const scheduler = createClient(directTransport(server.direct(SCHEDULER)));
  try {
    await client.of(Namespace).create({ metadata: { name: 'bench' } });
    await each(NODES, (index) => client.of(Node).create(node(index)));
    await each(count, (index) => client.of(Pod).in('bench').create(pod(index, sort)));
    const decisions = await deciding(client);
    return { bound: await binding(scheduler, count), decisions };
  } finally {
    server.close();
    await store.close();
  }
}

async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += CONCURRENT_CREATES) {
    await Promise.all(
      Array.from({ length: Math.min(CONCURRENT_CREATES, count - start) }, (_, index) => work(start + index)),
    );
  }
}

function node(index: number): object {
  const name = `node-${index}`;
  const amounts = { cpu: '32', memory: '128Gi', pods: '110', 'ephemeral-storage': '500Gi' };
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` };
  return { metadata: { name, labels }, status: { capacity: amounts, allocatable: amounts } };
}

function pod(index: number, sort: Sort): object {
  const group = `group-${Math.floor(index / GROUP)}`;
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { group } } };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  return {
    metadata: { name: `pod-${index}`, labels: { app: 'bench', group } },
    spec: {
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m', memory: '200Mi' } } }],
      ...(sort === 'plain' ? {} : { affinity }),
    },
  };
}

/** Measures deciding without API, informers and queue. */
async function deciding(client: Client): Promise<number> {
  const cluster = new Cluster();
  const none = () => undefined;
  const nothing = () => [];
  const world: World = {
    cluster,
    storage: new Storage({
      ...{ claim: none, volume: none, class: none, csiNode: none, driver: none },
      ...{ freeVolumes: nothing, volumesFor: nothing, capacities: nothing, attachments: nothing },
    }),
    namespaces: nothing,
    namespaceLabels: () => NO_LABELS,
    siblings: none,
  };
  for (const each of (await client.of(Node).listAll()).items) cluster.setNode(each);
  const pods = (await client.of(Pod).listAll()).items.map((each) => new PodInfo(each));
  const options = { plugins, world, position: { next: 0 }, random: systemRandom };
  const start = performance.now();
  for (const info of pods) {
    const decision = decide(info, options);
    if (decision.type === 'node') cluster.assume(info, decision.node.name);
  }
  return (pods.length / (performance.now() - start)) * 1_000;
}

async function binding(client: Client, count: number): Promise<number> {
  const stop = new AbortController();
  const common = { client, clock: systemClock, random: systemRandom, log: silent, signal: stop.signal };
  const informers = new InformerFactory(common);
  const recorder = createEventRecorder({ ...common, component: 'default-scheduler' });
  const pods = informers.of(Pod);
  await pods.synced;
  let left = count;
  const start = performance.now();
  const done = new Promise<void>((resolve) => {
    pods.onChange((change) => {
      if (change.type !== 'update' || change.old.spec.nodeName || !change.object.spec.nodeName) return;
      if (--left === 0) resolve();
    });
  });
  const running = new Scheduler({ ...common, informers, recorder }).run();
  await done;
  const rate = (count / (performance.now() - start)) * 1_000;
  stop.abort();
  await running;
  await informers.stopped();
  return rate;
}
