/** One sandbox: the process that holds its namespaces, its network and its files. */

import { chmodSync, chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import { runProgram } from '../../../base/programs/run-program.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import type { Sandbox } from '../../runtime/runtime.ts';
import type { DnsConfig, SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { SandboxFiles } from '../oci/input.ts';
import type { KeeperContext } from './context.ts';
import type { Holder, SandboxToHold } from './executor.ts';
import { readJson, writeAtomically } from './files.ts';
import { openReader } from './streams/fifo.ts';

/** The file `sandbox.json`. */
export interface SandboxRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly config: SandboxConfig;
  readonly address: string | undefined;
  readonly boot: string;
  /** Name of the executor of its containers. A sandbox of another executor is not taken over. */
  readonly executor: string;
  /** Holder of its namespaces. Undefined: it has none of its own. */
  readonly holder: Holder | undefined;
  /** True when its network is set up, if it has one. */
  readonly isConnected: boolean;
  readonly isStopped: boolean;
  readonly cgroup: string;
}

/** As with other container engines. */
const SHARED_MEMORY_BYTES = 64 * 2 ** 20;

export class KeptSandbox {
  readonly directory: string;
  readonly #context: KeeperContext;
  #record: SandboxRecord;
  #isAlive = true;
  #connected: Promise<void> = Promise.resolve();
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
      makeDirectoriesSync(sandbox.directory, 0o711);
      sandbox.#save();
      context.cgroups?.create(record.cgroup, record.config.cgroupResources);
      context.cgroups?.anticipateMoves();
      sandbox.#writeFiles();
      // Starting the holder of the namespaces takes longest, so it goes first.
      const [held, made] = await Promise.allSettled([
        sandbox.#hold(),
        setImmediate().then(() => sandbox.#makeSharedMemory()),
      ]);
      for (const result of [held, made]) if (result.status === 'rejected') throw result.reason;
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
    // A stopped sandbox has no processes: their ids may have been reused.
    if (record.boot !== context.boot || record.isStopped || record.executor !== context.executorName)
      sandbox.#isAlive = false;
    else if (record.holder && !record.isConnected) sandbox.#isAlive = false;
    else if (record.holder?.pid !== undefined) sandbox.#watch();
    else if (record.holder?.namespaces !== undefined) sandbox.#isAlive = existsSync(record.holder.namespaces);
    return sandbox;
  }

  get record(): SandboxRecord {
    return this.#record;
  }

  /** On the network of the node, it is that of the node, which is that of this process. */
  get hostname(): string {
    return this.#record.config.hostname || hostname();
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

  get #toHold(): SandboxToHold {
    const { id, config, cgroup } = this.#record;
    return { id, directory: this.directory, config, cgroup };
  }

  async #hold(): Promise<void> {
    const { network, executor } = this.#context;
    const { address, id } = this.#record;
    const holder = await executor.hold(this.#toHold);
    if (!holder) return;
    const { netns } = holder;
    const hasNetwork = network !== undefined && netns !== undefined;
    this.#record = { ...this.#record, holder, isConnected: !hasNetwork };
    this.#save();
    if (holder.pid !== undefined) this.#watch();
    if (!hasNetwork) return;
    // Containers are made meanwhile, and wait for it. Without a network, the pod gets another sandbox.
    const connecting = address === undefined ? network.loopback(netns) : network.connect({ id, address, netns });
    this.#connected = connecting.then(() => {
      this.#record = { ...this.#record, isConnected: true };
      this.#save();
    });
    this.#connected.catch(() => this.#died());
  }

  /** Resolves when its network is there. */
  get connected(): Promise<void> {
    return this.#connected;
  }

  #died(): void {
    this.#isAlive = false;
    if (!this.#record.isStopped) this.#context.changed(this.#record.id);
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
    writeFileSync(files.hostname, `${this.hostname}\n`);
    writeFileSync(files.hosts, etcHosts(this.hostname, address));
    // Root of the pod owns them, and every other user may read them.
    const owner = config.namespaces.user?.[0]?.hostId;
    for (const file of [files.resolvConf, files.hostname, files.hosts]) {
      chmodSync(file, 0o644);
      if (owner !== undefined) chownSync(file, owner, owner);
    }
  }

  get #sharedMemory(): string {
    return join(this.directory, 'shm');
  }

  async #makeSharedMemory(): Promise<void> {
    if (this.#record.config.namespaces.ipc !== 'pod') return;
    const path = this.#sharedMemory;
    makeDirectoriesSync(path);
    chmodSync(path, 0o1777);
    const { mount } = this.#context.machine.programs;
    if (this.#context.executorName !== 'oci' || mount === undefined) return;
    const options = `nosuid,nodev,noexec,mode=1777,size=${SHARED_MEMORY_BYTES}`;
    await runProgram([mount, '-t', 'tmpfs', '-o', options, 'shm', path]);
  }

  async #removeSharedMemory(): Promise<void> {
    const { umount } = this.#context.machine.programs;
    if (this.#context.executorName !== 'oci' || umount === undefined || !existsSync(this.#sharedMemory)) return;
    await runProgram([umount, '--lazy', this.#sharedMemory]).catch(() => undefined);
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
    if (holder?.pid !== undefined && this.#isAlive) {
      const died = new Promise<void>((resolve) => this.#onDeath.add(resolve));
      try {
        process.kill(holder.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
      await died;
    }
    await this.#connected.catch(() => undefined);
    await this.#context.executor.release(this.#toHold);
    if (address !== undefined && this.#context.network) await this.#context.network.disconnect(id);
  }

  /** Changes what all its containers may use together. */
  update(resources: ContainerResources): void {
    this.#context.cgroups?.update(this.#record.cgroup, resources);
  }

  async remove(): Promise<void> {
    await this.stop();
    this.#context.cgroups?.remove(this.#record.cgroup);
    await this.#removeSharedMemory();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #save(): void {
    writeAtomically(join(this.directory, 'sandbox.json'), JSON.stringify(this.#record));
  }
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}

/** Content of `/etc/resolv.conf` in containers. */
function resolvConf({ servers, searches, options }: DnsConfig): string {
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    '',
  ].join('\n');
}

/** Content of `/etc/hosts` in a container that mounts no file of its own there. */
function etcHosts(hostname: string, address: string | undefined): string {
  return [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    ...(address === undefined ? [] : [`${address}\t${hostname}`]),
    '',
  ].join('\n');
}
