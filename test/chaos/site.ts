/** The machines of a run with their programs: servers with etcd on some, agents on the others. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { untilPrints } from '../e2e/machines/landscape.ts';
import { type Qd, runQd, spawnProgram, startQd } from '../e2e/program.ts';
import { MachineClock } from './clocks.ts';
import { Disk } from './disks.ts';
import { type Etcd, ExternalEtcd, OwnEtcd, type ServerMachine } from './etcd.ts';
import { Machines } from './machines.ts';

export const SERVERS = ['s1', 's2', 's3'] as const;
export const AGENTS = ['n1', 'n2', 'n3'] as const;

/** A program of the cluster: each machine has at most one of each sort. */
export type Program = 'etcd' | 'server' | 'agent';

/** Where the objects are: in the etcd of `qd up --ha`, or in one beside it. */
export type StoreChoice = 'ha' | 'external';

const PORT = ['--port', '6443'];
/** Ranges that no other test uses. */
const RANGES = ['--cluster-cidr', '10.236.0.0/16', '--service-cluster-ip-range', '10.237.0.0/16'];
const IMAGES_MB = 3_500;

export class Site {
  readonly machines = new Machines([...SERVERS, ...AGENTS]);
  readonly #directory: string;
  readonly #serverMachines = new Map<string, ServerMachine>();
  readonly #disks = new Map<string, Disk>();
  readonly #clocks = new Map<string, MachineClock>();
  readonly #children = new Map<string, ChildProcess>();
  readonly #servers = new Map<string, Qd>();
  /** What programs have printed, by their names. */
  readonly #outputs = new Map<string, string>();
  readonly #etcd: Etcd;
  #join: readonly string[] = [];

  private constructor(directory: string, store: StoreChoice) {
    this.#directory = directory;
    const machines = SERVERS.map((name) => this.#serverMachine(name));
    this.#etcd = store === 'ha' ? new OwnEtcd(machines) : new ExternalEtcd(machines);
  }

  static async open(store: StoreChoice): Promise<Site> {
    const site = new Site(await mkdtemp(join(tmpdir(), 'qd-chaos-')), store);
    try {
      await site.#start();
    } catch (error) {
      await site.close();
      throw error;
    }
    return site;
  }

  async #start(): Promise<void> {
    const images = this.#path('images');
    await mkdir(images);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${IMAGES_MB}m,mode=0700`, 'chaos', images]);
    for (const name of SERVERS)
      this.#disks.set(name, new Disk(this.#path(name), images, `${basename(this.#directory)}-${name}`));
    for (const name of [...SERVERS, ...AGENTS]) this.#clocks.set(name, new MachineClock(this.#path(`${name}-clock`)));
    await this.#etcd.start();
    for (const name of SERVERS) {
      const flags = await this.#etcd.flags(this.#serverMachine(name), () => this.#printed('qd up', '--server'));
      await this.#startServer(name, name === 's1' ? [...flags, ...RANGES] : flags);
    }
    this.#join = await this.#printed('qd agent');
    for (const name of AGENTS) await this.#startAgent(name);
  }

  server(name: string): Qd {
    const found = this.#servers.get(name);
    if (!found) throw new Error(`the server of ${name} has not been started`);
    return found;
  }

  /** The disk of a machine with a server. */
  disk(name: string): Disk {
    return this.#disks.get(name)!;
  }

  clock(name: string): MachineClock {
    return this.#clocks.get(name)!;
  }

  /** The machine whose member leads etcd. */
  async leader(): Promise<string> {
    return (await this.#etcd.leader()) ?? 's1';
  }

  pids(machine: string, program: Program): readonly number[] {
    if (program === 'etcd') return this.#etcd.pids(machine);
    const child = this.#children.get(`${machine} ${program}`);
    return child?.pid === undefined || hasEnded(child) ? [] : [child.pid];
  }

  async kill(machine: string, program: Program): Promise<void> {
    const child = this.#children.get(`${machine} ${program}`);
    const ended = child && !hasEnded(child) ? once(child, 'exit') : undefined;
    this.signal(machine, program, 'SIGKILL');
    await ended;
  }

  signal(machine: string, program: Program, signal: NodeJS.Signals): void {
    for (const pid of this.pids(machine, program)) process.kill(pid, signal);
  }

  /** Starts every program that does not run, as the service manager of a machine would. */
  async startMissing(): Promise<void> {
    const isMissing = (machine: string, program: Program) => hasEnded(this.#children.get(`${machine} ${program}`)!);
    await this.#etcd.start();
    // As many as are needed for a majority may wait for each other.
    await Promise.all(SERVERS.filter((name) => isMissing(name, 'server')).map((name) => this.#startServer(name, [])));
    for (const name of AGENTS) if (isMissing(name, 'agent')) await this.#startAgent(name);
  }

  /** Writes what the programs have printed to files of a directory. */
  async saveOutputs(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    for (const [name, qd] of this.#servers) this.#keepOutput(`${name} server`, qd.output());
    for (const name of SERVERS) {
      const log = join(this.#path(name), 'data', 'etcd', 'etcd.log');
      if (existsSync(log)) await copyFile(log, join(directory, `${name}-etcd.log`));
    }
    for (const [name, text] of this.#outputs) await writeFile(join(directory, `${name.replace(' ', '-')}.log`), text);
  }

  async close(): Promise<void> {
    for (const name of AGENTS) {
      await this.kill(name, 'agent');
      await runQd(['reset', '--yes', '--data-dir', this.#path(name)], { enter: this.machines.enter(name) });
    }
    for (const name of SERVERS) await this.kill(name, 'server');
    for (const name of SERVERS) {
      await this.kill(name, 'etcd');
      const data = join(this.#path(name), 'data');
      await runQd(['reset', '--yes', '--data-dir', data], { enter: this.machines.enter(name) });
      this.#disks.get(name)?.unmount();
    }
    execFileSync('umount', ['--lazy', this.#path('images')]);
    this.machines.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #serverMachine(name: string): ServerMachine {
    const known = this.#serverMachines.get(name);
    if (known) return known;
    const { machines } = this;
    const created = {
      name,
      address: machines.address(name),
      directory: this.#path(name),
      enter: machines.enter(name),
    };
    this.#serverMachines.set(name, created);
    return created;
  }

  /** The flags of the command that `qd token create` prints. */
  async #printed(command: string, ...flags: readonly string[]): Promise<readonly string[]> {
    const args = ['token', 'create', ...flags, '--kubeconfig', this.server('s1').kubeconfig];
    const { code, stdout, stderr } = await runQd(args);
    if (code !== 0) throw new Error(`qd token create ended with ${code}: ${stderr}`);
    return stdout.slice(stdout.indexOf(command)).trim().split(/\s+/).slice(2);
  }

  async #startServer(name: string, flags: readonly string[]): Promise<void> {
    const before = this.#servers.get(name)?.output();
    if (before !== undefined) this.#keepOutput(`${name} server`, before);
    const qd = await startQd({
      directory: this.#path(name),
      flags: [...PORT, ...flags],
      enter: [...this.disk(name).enter, ...this.machines.enter(name)],
      env: this.clock(name).env,
    });
    this.#servers.set(name, qd);
    this.#children.set(`${name} server`, qd.child);
  }

  async #startAgent(name: string): Promise<void> {
    const first = ['--node-name', name, '--runtime', 'process', '--allow-host-image', ...this.#join];
    const flags = this.#children.has(`${name} agent`) ? [] : first;
    const args = ['agent', '--data-dir', this.#path(name), ...flags];
    const child = spawnProgram('qd', args, { enter: this.machines.enter(name), env: this.clock(name).env });
    this.#children.set(`${name} agent`, child);
    const onData = (chunk: Buffer) => this.#keepOutput(`${name} agent`, String(chunk));
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', onData);
    await untilPrints(child, 'joined');
  }

  #keepOutput(program: string, text: string): void {
    this.#outputs.set(program, (this.#outputs.get(program) ?? '') + text);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
