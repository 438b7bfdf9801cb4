/** The work that goes on during all faults, and checks itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { groupBy } from '../../src/base/collections/group-by.ts';
import { Follower, within } from './follower.ts';
import { type Operation, type Version, violations } from './registers.ts';
import { AGENTS, SERVERS, type Site } from './site.ts';

const NAMESPACE = 'chaos';
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const REGISTERS = ['r1', 'r2', 'r3', 'r4'];
const CLIENTS = 6;
const REQUEST_TIMEOUT_MS = 2_000;
const PAUSE_MS = 50;
const HEARTBEAT_MS = 250;
/** An acknowledgement counts, however long it took. */
const HEARTBEAT_TIMEOUT_MS = 30_000;
const SETTLE_MS = 60_000;
const REPLICAS = 4;
const PORT = 8080;

interface Answer {
  readonly code: number;
  readonly body: any;
}

/** State of a pod that no fault of a server or of the network may change. */
interface Life {
  readonly uid: string;
  readonly restarts: number;
}

export class Workload {
  readonly #site: Site;
  readonly #operations: Operation[] = [];
  /** Versions of each register, as each server showed them. */
  readonly #versions = new Map<string, Map<string, Version[]>>();
  readonly #followers: Follower[] = [];
  /** Times of acknowledged heartbeats. */
  readonly #heartbeats: number[] = [];
  /** Names of the pods of each round. */
  readonly #created = new Map<string, Set<string>>();
  readonly #probes: ChildProcess[] = [];
  readonly #answering = new Map<string, boolean>();
  #lives = new Map<string, Life>();
  #isStopped = false;
  #value = 0;
  #clients: Promise<void>[] = [];

  private constructor(site: Site) {
    this.#site = site;
  }

  static async start(site: Site): Promise<Workload> {
    const workload = new Workload(site);
    await workload.#create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    for (const name of REGISTERS) await workload.#create(CONFIG_MAPS, { metadata: { name }, data: { value: 'none' } });
    await workload.#serve();
    const { body } = await site.server('s1').request('GET', CONFIG_MAPS);
    for (const server of SERVERS) workload.#followRegisters(server, body);
    workload.#followPods((await site.server('s1').request('GET', PODS)).body.metadata.resourceVersion);
    for (let i = 0; i < CLIENTS; i++) workload.#clients.push(workload.#client(i));
    for (const server of SERVERS) {
      await workload.#create(CONFIG_MAPS, { metadata: { name: `heartbeat-${server}` } });
      workload.#clients.push(workload.#beat(server));
    }
    return workload;
  }

  get operations(): number {
    return this.#operations.length;
  }

  /** Creates a Deployment whose pods cannot be scheduled: any controller that leads creates each of them once. */
  async begin(round: string): Promise<void> {
    const labels = { round };
    const spec = { nodeSelector: { nowhere: 'true' }, containers: [{ name: 'c', image: 'host' }] };
    const template = { metadata: { labels }, spec };
    const body = {
      metadata: { name: round },
      spec: { replicas: REPLICAS, selector: { matchLabels: labels }, template },
    };
    for (let i = 0; ; i++) {
      const { code } = await this.#send(SERVERS[i % SERVERS.length]!, 'POST', DEPLOYMENTS, body);
      if (code === 200 || code === 201 || code === 409) return;
      await wait(PAUSE_MS);
    }
  }

  /** Returns the longest time without an acknowledged heartbeat over any server since a time. */
  longestGapSince(since: number): number {
    const times = [since, ...this.#heartbeats.filter((time) => time > since), performance.now()];
    return times.slice(1).reduce((longest, time, i) => Math.max(longest, time - times[i]!), 0);
  }

  /** Waits until everything is as it should be; returns what is not after a while. */
  async settle(round: string): Promise<readonly string[]> {
    const end = performance.now() + SETTLE_MS;
    for (;;) {
      const problems = await this.#unsettled(round).catch((error) => [String(error)]);
      if (problems.length === 0 || performance.now() > end) return problems;
      await wait(4 * PAUSE_MS);
    }
  }

  /** Stops the clients and returns everything that was wrong in the whole run. */
  async stop(): Promise<readonly string[]> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    const behind = await this.#catchUp();
    for (const follower of this.#followers) follower.stop();
    for (const probe of this.#probes) probe.kill('SIGKILL');
    const versions = this.#versions.get('s1')!;
    return [
      ...behind,
      ...this.#followers.flatMap(({ problems }) => problems),
      ...SERVERS.slice(1).flatMap((server) => this.#differences(server)),
      ...violations(this.#operations, versions),
    ];
  }

  /** Reads and writes registers over all servers in turn. */
  async #client(id: number): Promise<void> {
    for (let i = id; !this.#isStopped; i++) {
      const server = SERVERS[i % SERVERS.length]!;
      const register = REGISTERS[(i >> 1) % REGISTERS.length]!;
      const path = `${CONFIG_MAPS}/${register}`;
      const began = performance.now();
      const read = await this.#send(server, 'GET', path);
      if (read.code === 200) {
        this.#operations.push({ register, began, ended: performance.now(), version: versionOf(read.body) });
        await this.#write(SERVERS[(i + id) % SERVERS.length]!, register, read.body);
      }
      await wait(PAUSE_MS);
    }
  }

  /** Writes at regular times over one server, without waiting for earlier writes. */
  async #beat(server: string): Promise<void> {
    for (let i = 0; !this.#isStopped; i++) {
      const body = { data: { count: String(i) } };
      const type = 'application/merge-patch+json';
      const request = this.#site.server(server).request('PATCH', `${CONFIG_MAPS}/heartbeat-${server}`, { body, type });
      within(request, HEARTBEAT_TIMEOUT_MS).then(
        ({ code }) => {
          if (code === 200) this.#heartbeats.push(performance.now());
        },
        () => undefined,
      );
      await wait(HEARTBEAT_MS);
    }
  }

  async #write(server: string, register: string, known: any): Promise<void> {
    const value = String(++this.#value);
    const began = performance.now();
    const { code, body } = await this.#send(server, 'PUT', `${CONFIG_MAPS}/${register}`, { ...known, data: { value } });
    if (code !== 200) return;
    const ended = performance.now();
    const replaced = Number(known.metadata.resourceVersion);
    this.#operations.push({ register, began, ended, version: versionOf(body), replaced });
  }

  #followRegisters(server: string, { items, metadata }: any): void {
    const versions = new Map<string, Version[]>(items.map((each: any) => [each.metadata.name, [versionOf(each)]]));
    this.#versions.set(server, versions);
    const onEvent = ({ object }: any) => versions.get(object.metadata.name)?.push(versionOf(object));
    const revision = metadata.resourceVersion;
    this.#followers.push(new Follower(this.#site, { servers: [server], path: CONFIG_MAPS, revision, onEvent }));
  }

  #followPods(revision: string): void {
    const onEvent = ({ type, object }: any) => {
      const { round } = object.metadata.labels ?? {};
      if (type !== 'ADDED' || !round) return;
      const names = this.#created.get(round) ?? new Set();
      this.#created.set(round, names.add(object.metadata.name));
    };
    this.#followers.push(new Follower(this.#site, { servers: SERVERS, path: PODS, revision, onEvent }));
  }

  /** Starts a pod on each agent, a Service in front of them, and a client on each agent's machine. */
  async #serve(): Promise<void> {
    const labels = { app: 'web' };
    const program = `require('node:http').createServer((_, r) => r.end('here')).listen(${PORT})`;
    const container = { name: 'c', image: 'host', command: [process.execPath, '-e', program] };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const at = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
    await this.#create(at, { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } });
    const ports = [{ port: 80, targetPort: PORT }];
    const service = await this.#create(`/api/v1/namespaces/${NAMESPACE}/services`, {
      metadata: { name: 'web' },
      spec: { selector: labels, ports },
    });
    for (const name of AGENTS) this.#probe(name, `http://${service.spec.clusterIP}`);
    const problems = await this.settle('');
    if (problems.length > 0) throw new Error(problems.join('\n'));
    this.#lives = await this.#readLives();
  }

  #probe(machine: string, url: string): void {
    const program = `process.stdout.on('error', () => process.exit());
      setInterval(() => fetch(${JSON.stringify(url)}, { signal: AbortSignal.timeout(1000) })
      .then((r) => r.text()).then((t) => console.log(t), () => console.log('nothing')), 500)`;
    const [first, ...rest] = this.#site.machines.enter(machine);
    const child = spawn(first!, [...rest, process.execPath, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', (text) => this.#answering.set(machine, String(text).trim().endsWith('here')));
    this.#probes.push(child);
  }

  async #unsettled(round: string): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const server of SERVERS) {
      const { code } = await this.#send(server, 'GET', '/readyz');
      if (code !== 200) problems.push(`${server} is not ready: ${code}`);
    }
    const { body } = await this.#send('s1', 'GET', '/api/v1/nodes');
    for (const { metadata, status } of body.items) {
      const { status: ready } = status.conditions.find(({ type }: any) => type === 'Ready');
      if (ready !== 'True') problems.push(`node ${metadata.name} is not ready: ${ready}`);
    }
    for (const machine of AGENTS) {
      if (this.#answering.get(machine) !== true) problems.push(`the Service does not answer on ${machine}`);
    }
    const lives = await this.#readLives();
    for (const [name, before] of this.#lives) {
      const now = lives.get(name);
      if (now?.uid !== before.uid) problems.push(`pod ${name} was replaced`);
      else if (now.restarts !== before.restarts) problems.push(`pod ${name} was restarted`);
    }
    const created = this.#created.get(round)?.size ?? 0;
    if (round !== '' && created !== REPLICAS)
      problems.push(`${created} pods were created for ${round}, not ${REPLICAS}`);
    return problems;
  }

  async #readLives(): Promise<Map<string, Life>> {
    const { body } = await this.#send('s1', 'GET', `${PODS}?labelSelector=app%3Dweb`);
    return new Map(
      body.items.map(({ metadata, status }: any) => [
        metadata.name,
        { uid: metadata.uid, restarts: status.containerStatuses?.[0]?.restartCount ?? 0 },
      ]),
    );
  }

  /** Waits until the watch of every server has shown the latest version of every register. */
  async #catchUp(): Promise<readonly string[]> {
    const { body } = await this.#site.server('s1').request('GET', CONFIG_MAPS);
    const items = body.items.filter(({ metadata }: any) => REGISTERS.includes(metadata.name));
    const behind = () =>
      SERVERS.flatMap((server) =>
        items
          .filter(
            (each: any) =>
              this.#versions.get(server)!.get(each.metadata.name)?.at(-1)?.number !== versionOf(each).number,
          )
          .map((each: any) => `the watch over ${server} did not show the latest version of ${each.metadata.name}`),
      );
    for (const end = performance.now() + SETTLE_MS; behind().length > 0 && performance.now() < end; )
      await wait(PAUSE_MS);
    return behind();
  }

  /** The watches of all servers must show the same. */
  #differences(server: string): readonly string[] {
    const [first, other] = [this.#versions.get('s1')!, this.#versions.get(server)!];
    return REGISTERS.flatMap((register) => {
      const [expected, found] = [first, other].map((each) => groupBy(each.get(register)!, ({ number }) => number));
      const missing = [...expected!.keys()].filter((number) => !found!.has(number));
      const extra = [...found!.keys()].filter((number) => !expected!.has(number));
      return [
        ...missing.map((number) => `the watch over ${server} skipped ${register}@${number}`),
        ...extra.map((number) => `the watch over s1 skipped ${register}@${number}`),
      ];
    });
  }

  async #create(path: string, body: object): Promise<any> {
    const answer = await this.#site.server('s1').request('POST', path, { body });
    if (answer.code >= 300) throw new Error(`POST ${path} returned ${answer.code}: ${answer.text}`);
    return answer.body;
  }

  /** Resolves with code 0 when there is no response in time. */
  async #send(server: string, method: string, path: string, body?: object): Promise<Answer> {
    try {
      return await within(this.#site.server(server).request(method, path, { body }), REQUEST_TIMEOUT_MS);
    } catch {
      return { code: 0, body: undefined };
    }
  }
}

function versionOf({ metadata, data }: any): Version {
  return { number: Number(metadata.resourceVersion), value: data.value };
}
