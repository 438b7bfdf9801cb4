/**
 * Figures of a federation: a host that runs the control plane as processes, and three members with simulated nodes,
 * each a cluster of its own.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client, createClient } from '../src/client/client.ts';
import { connectionOf, loadKubeconfig } from '../src/client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../src/client/transport/http/https-transport.ts';
import { Deployment } from '../src/kinds/groups/apps/deployment.ts';
import { Job } from '../src/kinds/groups/batch/job.ts';
import { ConfigMap } from '../src/kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../src/kinds/groups/core/namespace.ts';
import { Pod } from '../src/kinds/groups/core/pod/pod.ts';
import { withoutProcesses } from './pods/cluster.ts';
import type { Figure } from './report.ts';

export interface FederationFigures {
  /** The project's folder. */
  readonly root: string;
  /** Directory for the clusters, which are removed afterwards. */
  readonly directory: string;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const SPREAD = 'federated Deployment of 30 in 3 clusters';
const MOVED = 'share of a killed cluster moved';
const RETURNED = 'share back after its return';
const MAPS = '1,000 federated ConfigMaps in 3 clusters';
const KILLS = 'lost or doubled by 10 kills of the manager';
const MAX_SPREAD_MS = 2_000;
const MAX_MAPS_MS = 30_000;
/** Time that a cluster may not answer; the controller manager is started with it. */
const UNAVAILABLE_MS = 5_000;
const MONITOR_MS = 1_000;
const MAP_COUNT = 1_000;
const KILL_COUNT = 10;
const CHURN_PER_KILL = 20;
const LIMIT_MS = 120_000;
const LOOK_MS = 20;
const MEMBERS = ['east', 'west', 'north'] as const;
/** The second number of the address ranges; members use the next ones. */
const FIRST_RANGE = 148;
const SYSTEM = 'federation-system';

export async function measureFederation({ root, directory, wanted, record, say }: FederationFigures): Promise<void> {
  if (![SPREAD, MOVED, RETURNED, MAPS, KILLS].some(wanted)) return;
  const missing = withoutProcesses();
  if (missing) return say(`the federation is left out: ${missing}`);
  const world = await FederatedWorld.start(root, directory);
  try {
    record({ name: SPREAD, unit: 'ms', qd: await spread(world), promise: MAX_SPREAD_MS });
    if (wanted(MAPS)) record({ name: MAPS, unit: 'ms', qd: await maps(world), promise: MAX_MAPS_MS });
    if (wanted(KILLS)) record({ name: KILLS, unit: '', qd: await kills(world), promise: 0 });
    if (wanted(MOVED) || wanted(RETURNED)) {
      const { moved, returned } = await moves(world);
      record({ name: MOVED, unit: 'ms', qd: moved, promise: UNAVAILABLE_MS + MONITOR_MS });
      record({ name: RETURNED, unit: 'ms', qd: returned, promise: UNAVAILABLE_MS });
    }
  } finally {
    await world.stop();
  }
}

/** The clusters and the federation, with clients by the names of contexts. */
class FederatedWorld {
  readonly #root: string;
  readonly #directory: string;
  readonly #clusters = new Map<string, ChildProcess>();
  readonly #transports: { close(): void }[] = [];
  readonly #clients = new Map<string, Client>();

  private constructor(root: string, directory: string) {
    this.#root = root;
    this.#directory = directory;
  }

  static async start(root: string, directory: string): Promise<FederatedWorld> {
    mkdirSync(directory, { recursive: true });
    const world = new FederatedWorld(root, directory);
    try {
      for (const name of ['host', ...MEMBERS]) await world.startCluster(name);
      const overrides = [
        `--cluster-unavailable-delay=${UNAVAILABLE_MS}ms`,
        `--cluster-monitor-period=${MONITOR_MS}ms`,
        '--leader-elect=false',
      ];
      // No service is published: nothing has to answer there.
      const dnsConfig = join(directory, 'dns.conf');
      writeFileSync(dnsConfig, '[Global]\nzones = example.com.\n');
      await world.#qdfed(
        ...['init', 'fed', '--dns-provider', 'coredns', '--dns-provider-config', dnsConfig],
        ...['--dns-zone-name', 'example.com.'],
        ...['--api-server-service-type', 'NodePort', '--controllermanager-arg-overrides', overrides.join(',')],
      );
      await (await world.client('fed')).of(Namespace).create({ metadata: { name: 'default' } });
      for (const name of MEMBERS) await world.#qdfed('join', name);
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  /** Starts a cluster, or restarts one that was killed. */
  async startCluster(name: string): Promise<void> {
    const range = FIRST_RANGE + ['host', ...MEMBERS].indexOf(name);
    const isHost = name === 'host';
    const args = [
      ...['up', '--name', name, '--data-dir', join(this.#directory, name), '--kubeconfig', this.#kubeconfig],
      ...['--nodes', '1', '--port', String(7000 + range), '--runtime', isHost ? 'process' : 'simulated'],
      ...['--cluster-cidr', `10.${range}.0.0/17`, '--service-cluster-ip-range', `10.${range}.128.0/17`],
      ...(isHost ? [] : ['--bind-address', '0.0.0.0']),
    ];
    const child = spawn(process.execPath, [join(this.#root, 'dist', 'qd.js'), ...args], {
      ...{ stdio: ['ignore', 'pipe', 'pipe'], env: this.#env },
    });
    this.#clusters.set(name, child);
    await new Promise<void>((resolve, reject) => {
      let said = '';
      const onData = (chunk: Buffer) => {
        said += chunk;
        if (/^Ready /m.test(said)) resolve();
      };
      child.stdout?.on('data', onData);
      child.stderr?.on('data', onData);
      child.on('exit', () => reject(new Error(`the cluster ${name} ended: ${said}`)));
    });
  }

  async kill(name: string): Promise<void> {
    const child = this.#clusters.get(name)!;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async client(context: string): Promise<Client> {
    const known = this.#clients.get(context);
    if (known) return known;
    const transport = httpsTransport(await connectionOf(await loadKubeconfig([this.#kubeconfig]), context));
    this.#transports.push(transport);
    const client = createClient(transport);
    this.#clients.set(context, client);
    return client;
  }

  /** Kills the controller manager with SIGKILL, and has its pod replaced at once. */
  async killManager(): Promise<void> {
    const pods = (await this.client('host')).of(Pod).in(SYSTEM);
    const labelSelector = 'module=federation-controller-manager';
    const { items } = await pods.list({ labelSelector });
    for (const { metadata } of items) {
      for (const pid of processesOf(metadata.name ?? '')) process.kill(pid, 'SIGKILL');
      await pods.delete(metadata.name ?? '', { gracePeriodSeconds: 0 });
    }
  }

  async stop(): Promise<void> {
    for (const transport of this.#transports) transport.close();
    const qd = (...args: string[]) =>
      promisify(execFile)(process.execPath, [join(this.#root, 'dist', 'qd.js'), ...args], { env: this.#env });
    for (const name of this.#clusters.keys()) {
      await qd('reset', '--yes', '--data-dir', join(this.#directory, name)).catch(() => undefined);
    }
    for (const child of this.#clusters.values()) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
  }

  get #kubeconfig(): string {
    return join(this.#directory, 'kubeconfig');
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.#directory };
  }

  async #qdfed(...args: string[]): Promise<void> {
    const flags = ['--kubeconfig', this.#kubeconfig, '--host-cluster-context', 'host'];
    const program = join(this.#root, 'dist', 'qdfed.js');
    await promisify(execFile)(process.execPath, [program, ...args, ...flags], { env: this.#env });
  }
}

/** Processes of a pod, by the name that it has in their environment. */
function processesOf(pod: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`POD_NAME=${pod}`);
      } catch {
        // It has ended, or belongs to another user.
        return false;
      }
    });
}

/** Resolves with the milliseconds until the condition holds. */
async function until(what: string, condition: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await condition().catch(() => false))) {
    if (performance.now() - began > LIMIT_MS) throw new Error(`${what} did not happen within ${LIMIT_MS / 1000} s`);
    await pause(LOOK_MS);
  }
  return performance.now() - began;
}

const replicasIn = async (client: Client, name: string) =>
  (await client.of(Deployment).in('default').get(name)).spec.replicas ?? 0;

async function sharesOf(world: FederatedWorld, name: string, members: readonly string[] = MEMBERS): Promise<string> {
  return (await Promise.all(members.map(async (member) => replicasIn(await world.client(member), name)))).join();
}

const deployment = (name: string, replicas: number) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    ...{ replicas, selector: { matchLabels: { app: name } } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
});

async function spread(world: FederatedWorld): Promise<number> {
  const federation = await world.client('fed');
  const began = performance.now();
  await federation.of(Deployment).create(deployment('web', 30));
  await until('the spread', async () => (await sharesOf(world, 'web')) === '10,10,10');
  return performance.now() - began;
}

async function maps(world: FederatedWorld): Promise<number> {
  const federation = await world.client('fed');
  const began = performance.now();
  const labels = { bench: 'maps' };
  for (let index = 0; index < MAP_COUNT; index += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, offset) =>
        federation.of(ConfigMap).create({
          metadata: { name: `map-${index + offset}`, namespace: 'default', labels },
          data: { index: String(index + offset) },
        }),
      ),
    );
  }
  await until('the propagation', async () =>
    (await countsOf(world, ConfigMap, 'bench=maps')).every((count) => count === MAP_COUNT),
  );
  return performance.now() - began;
}

async function countsOf(world: FederatedWorld, kind: typeof ConfigMap, labelSelector: string): Promise<number[]> {
  return Promise.all(
    MEMBERS.map(
      async (member) =>
        (await (await world.client(member)).of(kind).in('default').list({ labelSelector })).items.length,
    ),
  );
}

/** Creates, changes and deletes objects while the controller manager is killed; resolves with the wrong objects at the end. */
async function kills(world: FederatedWorld): Promise<number> {
  const federation = await world.client('fed');
  const labels = { bench: 'kills' };
  const expected = new Map<string, string>();
  for (let round = 0; round < KILL_COUNT; round++) {
    const churn = Array.from({ length: CHURN_PER_KILL }, async (_, index) => {
      const name = `kill-${round}-${index}`;
      await federation.of(ConfigMap).create({ metadata: { name, namespace: 'default', labels }, data: { v: '1' } });
      expected.set(name, '1');
      await pause(Math.random() * 500);
      const maps = federation.of(ConfigMap).in('default');
      if (index % 3 === 0) {
        await maps.delete(name, { propagationPolicy: 'Background' });
        expected.delete(name);
      } else if (index % 3 === 1) {
        await maps.patch(name, { type: 'merge', changes: { data: { v: '2' } } });
        expected.set(name, '2');
      }
    });
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } as const;
    await federation.of(Deployment).create(deployment(`kill-${round}`, 7));
    await federation.of(Job).create({
      metadata: { name: `kill-${round}`, namespace: 'default' },
      spec: { parallelism: 3, completions: 6, template },
    });
    await pause(Math.random() * 1_000);
    await world.killManager();
    await Promise.all(churn);
  }
  // Objects that are wrong in the end stay wrong: everything gets the time to be put right.
  const began = performance.now();
  let wrong = await wrongObjects(world, expected);
  while (wrong > 0 && performance.now() - began < LIMIT_MS) {
    await pause(LOOK_MS * 10);
    wrong = await wrongObjects(world, expected);
  }
  return wrong;
}

async function wrongObjects(world: FederatedWorld, expected: ReadonlyMap<string, string>): Promise<number> {
  let wrong = 0;
  const sums = { replicas: 0, completions: 0 };
  for (const member of MEMBERS) {
    const client = await world.client(member);
    const { items } = await client.of(ConfigMap).in('default').list({ labelSelector: 'bench=kills' });
    const found = new Map(items.map(({ metadata, data }) => [metadata.name ?? '', data?.v]));
    wrong += [...found].filter(([name, value]) => expected.get(name) !== value).length;
    wrong += [...expected.keys()].filter((name) => !found.has(name)).length;
    const isOurs = (name: string | undefined) => name?.startsWith('kill-') ?? false;
    for (const { metadata, spec } of (await client.of(Deployment).in('default').list()).items) {
      if (isOurs(metadata.name)) sums.replicas += spec.replicas ?? 0;
    }
    for (const { metadata, spec } of (await client.of(Job).in('default').list()).items) {
      if (isOurs(metadata.name)) sums.completions += spec.completions ?? 0;
    }
  }
  return wrong + Math.abs(sums.replicas - 7 * KILL_COUNT) + Math.abs(sums.completions - 6 * KILL_COUNT);
}

async function moves(world: FederatedWorld): Promise<{ moved: number; returned: number }> {
  const began = performance.now();
  await world.kill('north');
  await until('the move', async () => (await sharesOf(world, 'web', ['east', 'west'])) === '15,15');
  const moved = performance.now() - began;
  await world.startCluster('north');
  const returned = await until('the return', async () => (await sharesOf(world, 'web')) === '10,10,10');
  return { moved, returned };
}
