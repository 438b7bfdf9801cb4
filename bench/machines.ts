/** Figures of a cluster on several machines, which are network namespaces on one switch: servers with an etcd of their own, and an agent. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Machines } from '../test/chaos/machines.ts';
import { type Qd, runQd, spawnProgram, startQd } from '../test/e2e/program.ts';
import { generate, type LoadResult, type Traffic } from './load.ts';
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
  if (![START, AGENT, SERVER_MEMORY, AGENT_MEMORY, WRITES].some(wanted)) return;
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

async function measure(cluster: MachineCluster, { wanted, record, seconds, template }: MachineFigures): Promise<void> {
  const alone = await timeOf(() => cluster.startAlone());
  record({ name: START, unit: 'ms', qd: await timeOf(() => cluster.startServers()), bare: alone });
  record({ name: AGENT, unit: 'ms', qd: await timeOf(() => cluster.startAgent()), bare: alone });
  if (wanted(SERVER_MEMORY) || wanted(AGENT_MEMORY)) {
    await pause(SETTLED_MS);
    const servers = cluster.servers.map(({ child }) => proportionalMemoryOf(child.pid!));
    record({ name: SERVER_MEMORY, unit: 'MB', qd: Math.max(...servers), promise: MAX_SERVER_MB });
    record({ name: AGENT_MEMORY, unit: 'MB', qd: proportionalMemoryOf(cluster.agent!.pid!), promise: MAX_AGENT_MB });
  }
  if (!wanted(WRITES)) return;
  const path = '/api/v1/namespaces/default/pods';
  /** Creates over some servers at once, with as many connections in all. */
  const load = async (over: readonly Qd[], run: string) => {
    const part = async ({ origin }: Qd, index: number): Promise<LoadResult> => {
      const traffic: Traffic = { type: 'create', path, template, run: `${run}-${index}` };
      const target = { origin, token: TOKEN };
      const connections = CONNECTIONS / over.length;
      return generate(target, traffic, { connections, seconds, root: cluster.root });
    };
    const results = await Promise.all(over.map(part));
    return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  await load(cluster.servers, 'warm');
  const one = await load(cluster.servers.slice(0, 1), 'one');
  record({ name: WRITES, unit: '/s', qd: await load(cluster.servers, 'three'), bare: one });
}

class MachineCluster {
  readonly servers: Qd[] = [];
  agent: ChildProcess | undefined;
  readonly root: string;
  readonly #machines: Machines;
  readonly #directory: string;

  constructor(machines: Machines, { root, directory }: MachineFigures) {
    this.root = root;
    this.#machines = machines;
    this.#directory = directory;
    mkdirSync(directory);
  }

  /** One server on the embedded store, to compare with. */
  async startAlone(): Promise<void> {
    const qd = await startQd({ directory: join(this.#directory, 'alone'), enter: this.#machines.enter('s1') });
    await qd.stop();
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
