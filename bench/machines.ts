/** Figures of a cluster on several machines, which are network namespaces on one switch: servers with an etcd of their own, and an agent. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Machines } from '../test/chaos/machines.ts';
import { type Qd, runQd, spawnProgram, startQd } from '../test/e2e/program.ts';
import { generate, type Traffic } from './load.ts';
import { TOKEN } from './programs.ts';
import type { Figure } from './report.ts';

export interface MachineFigures {
  /** The project's folder. */
  readonly root: string;
  /** Directory for the clusters, which are removed afterwards. It has the file of tokens beside it. */
  readonly directory: string;
  /** The body of creates. */
  readonly template: string;
  readonly seconds: number;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const START = 'three servers, three commands';
const AGENT = 'agent, from its command to Ready';
const SERVER_MEMORY = 'memory of a server on machines, idle';
const AGENT_MEMORY = 'memory of an agent, idle';
const WRITES = 'creates through three servers';
const READS = 'processor time of a get through three servers';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const SERVERS = ['s1', 's2', 's3'] as const;
const NODE = 'n1';
const MAX_SERVER_MB = 150;
const MAX_AGENT_MB = 80;
const SETTLED_MS = 25_000;
const CONNECTIONS = 30;
const RANGES = ['--cluster-cidr', '10.238.0.0/16', '--service-cluster-ip-range', '10.239.0.0/16'];

export async function measureMachines(options: MachineFigures): Promise<void> {
  const { wanted, say } = options;
  if (![START, AGENT, SERVER_MEMORY, AGENT_MEMORY, WRITES, READS].some(wanted)) return;
  const missing = whatIsMissing();
  if (missing) return say(`several machines are left out: ${missing}`);
  const onSignal = () => void clean().finally(() => process.exit(1));
  // Before there is anything to clean up: the handlers run when all of it is there.
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const machines = new Machines([...SERVERS, NODE]);
  const cluster = new MachineCluster(machines, options);
  let cleaning: Promise<void> | undefined;
  const clean = () => {
    cleaning ??= cluster.stop().finally(() => machines.close());
    return cleaning;
  };
  try {
    await measure(cluster, options);
  } finally {
    await clean();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

async function measure(cluster: MachineCluster, options: MachineFigures): Promise<void> {
  const { wanted, record } = options;
  const wantsMemory = wanted(SERVER_MEMORY) || wanted(AGENT_MEMORY);
  const alone = await cluster.startAlone(wantsMemory ? SETTLED_MS : 0);
  record({ name: START, unit: 'ms', qd: await timeOf(() => cluster.startServers()), bare: alone.ms });
  record({ name: AGENT, unit: 'ms', qd: await timeOf(() => cluster.startAgent()), bare: alone.ms });
  if (wantsMemory) {
    await pause(SETTLED_MS);
    const { megabytes: bare } = alone;
    const servers = cluster.servers.map(({ child }) => proportionalMemoryOf(child.pid!));
    record({ name: SERVER_MEMORY, unit: 'MB', qd: Math.max(...servers), bare, promise: MAX_SERVER_MB });
    const agent = proportionalMemoryOf(cluster.agent!.pid!);
    record({ name: AGENT_MEMORY, unit: 'MB', qd: agent, bare, promise: MAX_AGENT_MB });
  }
  if (wanted(WRITES)) await measureWrites(cluster, options);
  if (wanted(READS)) await measureReads(cluster, options);
}

const PODS = '/api/v1/namespaces/default/pods';

async function measureWrites({ servers }: MachineCluster, options: MachineFigures): Promise<void> {
  const { template, record } = options;
  const load = (over: readonly Qd[], run: string) =>
    loadOver(over, options, (index) => ({ type: 'create', path: PODS, template, run: `${run}-${index}` }));
  await load(servers, 'warm');
  const bare = await load(servers.slice(0, 1), 'one');
  record({ name: WRITES, unit: '/s', qd: await load(servers, 'three'), bare });
}

/**
 * Three servers on three cores serve three times the reads of one when each read costs the servers as much processor time as
 * with one. That can be measured with fewer cores.
 */
async function measureReads({ servers }: MachineCluster, options: MachineFigures): Promise<void> {
  const { record, seconds } = options;
  /** Microseconds of the servers for each read. */
  const cost = async (over: readonly Qd[]) => {
    const before = processorSeconds(over);
    const perSecond = await loadOver(over, options, () => ({ type: 'read', path: '/api/v1/namespaces/default' }));
    return ((processorSeconds(over) - before) / (perSecond * seconds)) * 1e6;
  };
  await cost(servers);
  const bare = await cost(servers.slice(0, 1));
  record({ name: READS, unit: 'µs', qd: await cost(servers), bare });
}

/** Sends requests to some servers at once, with as many connections in all, and resolves with the rate of all. */
async function loadOver(
  over: readonly Qd[],
  { root, seconds }: MachineFigures,
  trafficOf: (index: number) => Traffic,
): Promise<number> {
  const connections = CONNECTIONS / over.length;
  const results = await Promise.all(
    over.map(({ origin }, index) =>
      generate({ origin, token: TOKEN }, trafficOf(index), { connections, seconds, root }),
    ),
  );
  const failed = results.reduce((sum, each) => sum + each.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests to servers on machines failed`);
  return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
}

class MachineCluster {
  readonly servers: Qd[] = [];
  agent: ChildProcess | undefined;
  readonly #machines: Machines;
  readonly #directory: string;

  constructor(machines: Machines, { directory }: MachineFigures) {
    this.#machines = machines;
    this.#directory = directory;
    mkdirSync(directory);
  }

  /** One server on the embedded store, to compare with: the time of its start, and its memory after some time. */
  async startAlone(idleMs: number): Promise<{ readonly ms: number; readonly megabytes: number }> {
    const began = performance.now();
    const qd = await startQd({ directory: join(this.#directory, 'alone'), enter: this.#machines.enter('s1') });
    const ms = performance.now() - began;
    await pause(idleMs);
    const megabytes = proportionalMemoryOf(qd.child.pid!);
    await qd.stop();
    return { ms, megabytes };
  }

  /** The commands that make three servers of empty machines, one of which prints the command for two of them. */
  async startServers(): Promise<void> {
    const first = await this.#start('s1', ['--ha', '--bind-address', this.#machines.address('s1'), ...RANGES]);
    const join = await printed(first, 'qd up', '--server');
    const others = await Promise.all(SERVERS.slice(1).map((name) => this.#start(name, join)));
    this.servers.push(first, ...others);
  }

  /** Resolves when the node is Ready. */
  async startAgent(): Promise<void> {
    const [first] = this.servers;
    const join = await printed(first!, 'qd agent');
    const flags = ['--data-dir', this.#pathOf(NODE), '--node-name', NODE, '--runtime', 'process', '--allow-host-image'];
    this.agent = spawnProgram('qd', ['agent', ...flags, ...join], { enter: this.#machines.enter(NODE) });
    for (const stream of [this.agent.stdout, this.agent.stderr]) stream?.resume();
    await first!.until('/api/v1/nodes', ({ status }) =>
      status.conditions?.some(({ type, status: found }: any) => type === 'Ready' && found === 'True'),
    );
  }

  /** Ends everything that runs on the machines, also what has not started yet. */
  async stop(): Promise<void> {
    if (this.agent && this.agent.exitCode === null) {
      this.agent.kill('SIGTERM');
      await once(this.agent, 'exit');
    }
    await this.#reset(NODE, this.#pathOf(NODE));
    await this.#machines.end();
    await Promise.all(this.servers.map((server) => server.stop('SIGKILL')));
    for (const name of SERVERS) await this.#reset(name, join(this.#pathOf(name), 'data'));
  }

  #start(name: string, flags: readonly string[]): Promise<Qd> {
    const tokens = join(this.#directory, '..', 'tokens.csv');
    return startQd({
      directory: this.#pathOf(name),
      flags: ['--port', '6443', '--server-name', name, '--token-auth-file', tokens, ...flags],
      enter: this.#machines.enter(name),
    });
  }

  async #reset(name: string, data: string): Promise<void> {
    if (existsSync(data)) await runQd(['reset', '--yes', '--data-dir', data], { enter: this.#machines.enter(name) });
  }

  #pathOf(name: string): string {
    return join(this.#directory, name);
  }
}

/** The flags of the command that `qd token create` prints. */
async function printed(server: Qd, command: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runQd(['token', 'create', ...flags, '--kubeconfig', server.kubeconfig]);
  return stdout.slice(stdout.indexOf(command)).trim().split(/\s+/).slice(2);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Memory of a process in MB, in which pages that several processes use count in part for each. */
function proportionalMemoryOf(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

const TICKS_PER_SECOND = 100;

/** Processor time that the programs of servers have used, in all their threads. */
function processorSeconds(servers: readonly Qd[]): number {
  const ticks = servers.map(({ child }) => {
    const text = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    // The name, in parentheses, may contain anything; after it come the state and what follows.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

function whatIsMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'they need root';
  try {
    execFileSync('etcd', ['--version'], {
      stdio: 'ignore',
      env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    return undefined;
  } catch {
    return 'etcd is not installed';
  }
}
