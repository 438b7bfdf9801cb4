/** One sandbox: the process that holds its namespaces, its network and its files. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ContainerResources } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Sandbox } from '../../runtime/runtime.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { framedPlan } from '../launcher/plan.ts';
import type { SandboxFiles } from '../plans/input.ts';
import { sandboxPlan, userSandboxPlan } from '../plans/sandbox-plan.ts';
import type { KeeperContext } from './context.ts';
import { openReader } from './fifo.ts';
import { readJson, writeAtomically } from './files.ts';
import { launcherCommand } from './machine.ts';
import { etcHosts, resolvConf } from './sandbox-files.ts';

/** The file `sandbox.json`. */
export interface SandboxRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly config: SandboxConfig;
  readonly address: string | undefined;
  readonly boot: string;
  /** The process that holds the namespaces, and the first one of its process namespace. Undefined: it has none. */
  readonly holder: { readonly pid: number; readonly init: number } | undefined;
  readonly isStopped: boolean;
  readonly cgroup: string;
}

export class KeptSandbox {
  readonly directory: string;
  readonly #context: KeeperContext;
  #record: SandboxRecord;
  #isAlive = true;
  readonly #onDeath = new Set<() => void>();

  private constructor(context: KeeperContext, record: SandboxRecord) {
    this.#context = context;
    this.#record = record;
    this.directory = join(context.directory, 'sandboxes', record.id);
  }

  /** Its files are on disk before anything exists that must be cleaned up. */
  static async run(context: KeeperContext, record: SandboxRecord): Promise<KeptSandbox> {
    const sandbox = new KeptSandbox(context, record);
    try {
      mkdirSync(sandbox.directory, { recursive: true, mode: 0o711 });
      sandbox.#save();
      sandbox.#writeFiles();
      context.cgroups?.create(record.cgroup, record.config.cgroupResources);
      if (context.machine.perl !== undefined) await sandbox.#hold(context.machine.perl);
    } catch (error) {
      await sandbox.remove();
      throw error;
    }
    return sandbox;
  }

  static load(context: KeeperContext, id: string): KeptSandbox | undefined {
    const record = readJson<SandboxRecord>(join(context.directory, 'sandboxes', id, 'sandbox.json'));
    if (!record) return undefined;
    const sandbox = new KeptSandbox(context, record);
    // What was stopped has no processes: their ids may be those of others by now.
    if (record.boot !== context.boot || record.isStopped) sandbox.#isAlive = false;
    else if (record.holder) sandbox.#watch();
    else if (sandbox.#plan().length > 0 && !record.holder) sandbox.#isAlive = false;
    return sandbox;
  }

  get record(): SandboxRecord {
    return this.#record;
  }

  get files(): SandboxFiles {
    const { ipc } = this.#record.config.namespaces;
    return {
      resolvConf: join(this.directory, 'resolv.conf'),
      hostname: join(this.directory, 'hostname'),
      hosts: join(this.directory, 'hosts'),
      sharedMemory: ipc === 'node' ? '/dev/shm' : this.#sharedMemory,
    };
  }

  get isReady(): boolean {
    return this.#isAlive && !this.#record.isStopped;
  }

  view(): Sandbox {
    const { id, createdAt, config, address } = this.#record;
    return {
      id,
      pod: config.pod,
      attempt: config.attempt,
      isReady: this.isReady,
      createdAt,
      addresses: address === undefined ? [] : [address],
      labels: config.labels,
      annotations: config.annotations,
    };
  }

  #plan() {
    const { config } = this.#record;
    const { isolation } = this.#context.machine;
    if (isolation === 'none') return [];
    return isolation === 'root'
      ? sandboxPlan(config)
      : userSandboxPlan(config, { uid: process.getuid!(), gid: process.getgid!() });
  }

  async #hold(perl: string): Promise<void> {
    const plan = this.#plan();
    if (plan.length === 0) return;
    const { network, launcher, machine } = this.#context;
    const { address, id } = this.#record;
    const [command, args] = launcherCommand(perl, launcher, 'hold');
    const child = spawn(command, args, {
      cwd: this.directory,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      env: {},
    });
    const control = child.stdio[3] as Duplex;
    control.on('error', () => undefined);
    const answers = answersOf(child, control);
    control.write(framedPlan(plan));
    const [, init] = (await answers()).split(' ');
    this.#record = { ...this.#record, holder: { pid: child.pid!, init: Number(init) } };
    this.#save();
    this.#watch();
    const netns = `/proc/${child.pid}/ns/net`;
    if (address !== undefined && network) await network.connect({ id, address, netns });
    else if (machine.isolation === 'root' && this.#record.config.namespaces.network === 'pod' && machine.ip)
      control.write(`configure ${machine.ip}\nlink set lo up\n`);
    control.write('go\n');
    await answers();
  }

  #watch(): void {
    const path = join(this.directory, 'alive');
    if (!existsSync(path)) {
      this.#isAlive = false;
      return;
    }
    const alive = openReader(path);
    alive.resume();
    alive.on('close', () => {
      this.#isAlive = false;
      for (const listener of this.#onDeath) listener();
      this.#onDeath.clear();
      if (!this.#record.isStopped) this.#context.changed(this.#record.id);
    });
  }

  #writeFiles(): void {
    const { config, address } = this.#record;
    const files = this.files;
    writeFileSync(files.resolvConf, config.dns ? resolvConf(config.dns) : readOr('/etc/resolv.conf', ''));
    writeFileSync(files.hostname, `${config.hostname}\n`);
    writeFileSync(files.hosts, etcHosts(config.hostname, address));
    if (config.namespaces.ipc === 'pod') mkdirSync(this.#sharedMemory, { recursive: true, mode: 0o1777 });
  }

  /** In the memory of the machine where it has a directory for that. */
  get #sharedMemory(): string {
    const { name, machine } = this.#context;
    return machine.isRoot && existsSync('/dev/shm')
      ? `/dev/shm/quarterdeck-${name}-${this.#record.id}`
      : join(this.directory, 'shm');
  }

  /** Ends the process that holds the namespaces, and frees the network. */
  async stop(): Promise<void> {
    if (!this.#record.isStopped) {
      this.#record = { ...this.#record, isStopped: true };
      try {
        this.#save();
      } catch {
        // On a full disk, pods can be stopped nevertheless: another keeper finds that their processes have ended.
      }
    }
    const { holder, address, id } = this.#record;
    if (holder && this.#isAlive) {
      const died = new Promise<void>((resolve) => this.#onDeath.add(resolve));
      try {
        process.kill(holder.init, 'SIGKILL');
        process.kill(holder.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
      await died;
    }
    if (address !== undefined && this.#context.network) await this.#context.network.disconnect(id);
  }

  /** Changes what all its containers may use together. */
  update(resources: ContainerResources): void {
    this.#context.cgroups?.update(this.#record.cgroup, resources);
  }

  async remove(): Promise<void> {
    await this.stop();
    this.#context.cgroups?.remove(this.#record.cgroup);
    rmSync(this.#sharedMemory, { recursive: true, force: true });
    rmSync(this.directory, { recursive: true, force: true });
  }

  #save(): void {
    writeAtomically(join(this.directory, 'sandbox.json'), JSON.stringify(this.#record));
  }
}

/** Returns what reads the launcher's next line. It rejects when the launcher fails. */
function answersOf(child: ChildProcess, control: Duplex): () => Promise<string> {
  let text = '';
  let isEnded = false;
  let wake: () => void = () => undefined;
  control.on('data', (chunk) => {
    text += String(chunk);
    wake();
  });
  child.on('exit', () => {
    isEnded = true;
    wake();
  });
  return async () => {
    for (;;) {
      const end = text.indexOf('\n');
      if (end !== -1) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        if (line.startsWith('failed ')) throw new RuntimeError('Unknown', line.slice('failed '.length));
        return line;
      }
      if (isEnded) throw new RuntimeError('Unknown', 'the process that holds the namespaces of the pod ended');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}
