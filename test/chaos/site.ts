/** The machines of a run with their programs: servers with etcd on some, agents on the others. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilPrints } from '../e2e/machines/landscape.ts';
import { type Qd, runQd, spawnProgram, startQd } from '../e2e/program.ts';
import { Machines } from './machines.ts';

export const SERVERS = ['s1', 's2', 's3'] as const;
export const AGENTS = ['n1', 'n2', 'n3'] as const;

/** A program of the cluster: each machine has at most one of each sort. */
export type Program = 'etcd' | 'server' | 'agent';

const PORTS = { client: 2379, peer: 2380, server: 6443 };
/** Size of a server's disk, which a fault fills. */
const DISK_MB = 400;
/** Ranges that no other test uses. */
const RANGES = ['--cluster-cidr', '10.236.0.0/16', '--service-cluster-ip-range', '10.237.0.0/16'];
const ETCD_FLAGS = ['--heartbeat-interval=100', '--election-timeout=1000'];

export class Site {
  readonly machines = new Machines([...SERVERS, ...AGENTS]);
  readonly #directory: string;
  readonly #children = new Map<string, ChildProcess>();
  readonly #servers = new Map<string, Qd>();
  #join: readonly string[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(): Promise<Site> {
    const site = new Site(await mkdtemp(join(tmpdir(), 'qd-chaos-')));
    try {
      await site.#start();
    } catch (error) {
      await site.close();
      throw error;
    }
    return site;
  }

  async #start(): Promise<void> {
    for (const name of SERVERS) {
      await mkdir(this.#path(name));
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'chaos', this.#path(name)]);
    }
    await Promise.all(SERVERS.map((name) => this.#startEtcd(name)));
    for (const name of SERVERS) await this.#startServer(name);
    const { code, stdout, stderr } = await runQd(['token', 'create', '--kubeconfig', this.server('s1').kubeconfig]);
    if (code !== 0) throw new Error(`qd token create ended with ${code}: ${stderr}`);
    this.#join = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
    for (const name of AGENTS) await this.#startAgent(name);
  }

  server(name: string): Qd {
    const found = this.#servers.get(name);
    if (!found) throw new Error(`the server of ${name} has not been started`);
    return found;
  }

  /** The path of a server's disk. */
  disk(name: string): string {
    return this.#path(name);
  }

  /** The machine whose member leads etcd. */
  async leader(): Promise<string> {
    const statuses = await Promise.all(SERVERS.map((name) => this.#status(name)));
    const led = statuses.find((status) => status !== undefined && status.header.member_id === status.leader);
    return SERVERS[statuses.indexOf(led)] ?? 's1';
  }

  pids(machine: string, program: Program): readonly number[] {
    const pid = this.#children.get(`${machine} ${program}`)?.pid;
    return pid === undefined ? [] : [pid];
  }

  async kill(machine: string, program: Program): Promise<void> {
    const child = this.#children.get(`${machine} ${program}`);
    if (!child || hasEnded(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  signal(machine: string, program: Program, signal: NodeJS.Signals): void {
    for (const pid of this.pids(machine, program)) process.kill(pid, signal);
  }

  /** Starts every program that does not run. */
  async startMissing(): Promise<void> {
    const isMissing = (machine: string, program: Program) => hasEnded(this.#children.get(`${machine} ${program}`)!);
    const etcds = SERVERS.filter((name) => isMissing(name, 'etcd')).map((name) => this.#startEtcd(name));
    await Promise.all(etcds);
    for (const name of SERVERS) if (isMissing(name, 'server')) await this.#startServer(name);
    for (const name of AGENTS) if (isMissing(name, 'agent')) await this.#startAgent(name);
  }

  async close(): Promise<void> {
    for (const name of AGENTS) {
      await this.kill(name, 'agent');
      await runQd(['reset', '--yes', '--data-dir', this.#path(name)], { enter: this.machines.enter(name) });
    }
    for (const name of SERVERS) {
      await this.kill(name, 'server');
      await this.kill(name, 'etcd');
      // Helpers of a killed server end a moment after it.
      execFileSync('umount', ['--lazy', this.#path(name)]);
    }
    this.machines.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #url(name: string, port: number): string {
    return `http://${this.machines.address(name)}:${port}`;
  }

  async #startEtcd(name: string): Promise<void> {
    const [first, ...rest] = this.machines.enter(name);
    const client = this.#url(name, PORTS.client);
    const peer = this.#url(name, PORTS.peer);
    const args = [
      ...[`--name=${name}`, `--data-dir=${join(this.#path(name), 'etcd')}`],
      ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
      `--initial-cluster=${SERVERS.map((each) => `${each}=${this.#url(each, PORTS.peer)}`).join(',')}`,
      ...ETCD_FLAGS,
    ];
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };
    const child = spawn(first!, [...rest, 'etcd', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.#children.set(`${name} etcd`, child);
    await untilPrints(child, 'ready to serve client requests');
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
  }

  async #startServer(name: string): Promise<void> {
    // Its own member comes first.
    const endpoints = [name, ...SERVERS.filter((each) => each !== name)].map((each) => this.#url(each, PORTS.client));
    const key = name === 's1' ? [] : ['--encryption-key-file', join(this.#path('s1'), 'data', 'encryption.key')];
    const store = ['--store', 'etcd', '--etcd-servers', endpoints.join(',')];
    const at = ['--bind-address', this.machines.address(name), '--port', String(PORTS.server)];
    const directory = this.#path(name);
    const qd = await startQd({
      directory,
      flags: [...store, ...RANGES, ...key, ...at],
      enter: this.machines.enter(name),
    });
    this.#servers.set(name, qd);
    this.#children.set(`${name} server`, qd.child);
  }

  async #startAgent(name: string): Promise<void> {
    const first = ['--node-name', name, '--runtime', 'process', '--allow-host-image', ...this.#join];
    const flags = this.#children.has(`${name} agent`) ? [] : first;
    const args = ['agent', '--data-dir', this.#path(name), ...flags];
    const child = spawnProgram('qd', args, { enter: this.machines.enter(name) });
    this.#children.set(`${name} agent`, child);
    await untilPrints(child, 'joined');
    for (const stream of [child.stdout, child.stderr]) stream?.removeAllListeners('data').resume();
  }

  async #status(name: string): Promise<any> {
    try {
      const signal = AbortSignal.timeout(1_000);
      const answer = await fetch(`${this.#url(name, PORTS.client)}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal,
      });
      return await answer.json();
    } catch {
      return undefined;
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
