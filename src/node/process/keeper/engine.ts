/** All sandboxes and containers of a runtime, and the calls that change them. */

import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { TreeTooDeepError } from '../../../base/files/inside/errors.ts';
import { treeBytes } from '../../../base/files/inside/tree-bytes.ts';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import { networkOf } from '../../cgroups/network-usage.ts';
import { podCgroupName } from '../../cgroups/pod-cgroup-name.ts';
import { usageOfTrees } from '../../cgroups/processes.ts';
import type { ContainerConfig, ContainerResources } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { ContainerUsage } from '../../runtime/runtime.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { nextAddress, parseRange } from '../network/addresses.ts';
import type { PublishedPort } from '../network/rules.ts';
import { identityOf, type ProcessIdentity } from '../oci/identity.ts';
import type { ResolvedImage } from '../wire/calls.ts';
import { type KeeperContext, newId } from './context.ts';
import type { ContainerToStart } from './executor.ts';
import { KeptContainer } from './kept-container.ts';
import { KeptSandbox } from './kept-sandbox.ts';

export class Engine {
  readonly sandboxes = new Map<string, KeptSandbox>();
  readonly containers = new Map<string, KeptContainer>();
  #lastAddress: string | undefined;
  /** Addresses of sandboxes that are being made. */
  readonly #reserved = new Set<string>();

  /** Takes over what is in the directory. */
  constructor(private readonly context: KeeperContext) {
    for (const id of entriesOf(join(context.directory, 'sandboxes'))) {
      const sandbox = KeptSandbox.load(context, id);
      if (sandbox) this.sandboxes.set(id, sandbox);
    }
    for (const id of entriesOf(join(context.directory, 'containers'))) {
      const container = KeptContainer.load(context, id);
      if (container) this.containers.set(id, container);
    }
  }

  /** Reports whether another keeper can take over: nothing runs, and what has ended is on disk. */
  isIdle(): boolean {
    const isRunning = [...this.containers.values()].some(({ pid, isSaved }) => pid !== undefined || !isSaved);
    return !isRunning && [...this.sandboxes.values()].every((sandbox) => !sandbox.view().isReady);
  }

  async runSandbox(config: SandboxConfig): Promise<string> {
    const { random, clock, name, boot } = this.context;
    if (config.runtimeHandler !== '')
      throw new RuntimeError('Unsupported', `no runtime for "${config.runtimeHandler}" is configured`);
    const id = newId(random);
    const address = this.#allocate(config);
    try {
      const cgroup = `/quarterdeck-${name}/${podCgroupName(config)}`;
      const executor = this.context.executorName;
      const record = {
        id,
        createdAt: clock.now(),
        config,
        address,
        boot,
        executor,
        holder: undefined,
        isConnected: false,
        isStopped: false,
        cgroup,
      };
      const sandbox = await KeptSandbox.run(this.context, record);
      this.sandboxes.set(id, sandbox);
      if (config.ports.length > 0) await this.#publish();
    } finally {
      if (address !== undefined) this.#reserved.delete(address);
    }
    this.context.changed(id);
    return id;
  }

  #allocate(config: SandboxConfig): string | undefined {
    if (config.namespaces.network === 'node' || !this.context.network) return undefined;
    const used = new Set(this.#reserved);
    for (const { record } of this.sandboxes.values()) if (record.address !== undefined) used.add(record.address);
    const address = nextAddress(parseRange(this.context.podCidr), used, this.#lastAddress);
    if (address === undefined)
      throw new RuntimeError('Unknown', `no address is left in the range ${this.context.podCidr}`);
    this.#lastAddress = address;
    this.#reserved.add(address);
    return address;
  }

  async #publish(): Promise<void> {
    const ports = [...this.sandboxes.values()].flatMap(({ record, isReady }): PublishedPort[] => {
      const { address } = record;
      return address === undefined || !isReady ? [] : record.config.ports.map((port) => ({ ...port, address }));
    });
    await this.context.network?.publish(ports);
  }

  async stopSandbox(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) return;
    await Promise.all(this.#containersOf(id).map((container) => container.stop(0, 'SIGKILL')));
    await sandbox.stop();
    if (sandbox.record.config.ports.length > 0) await this.#publish();
    this.context.changed(id);
  }

  async removeSandbox(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) return;
    await this.stopSandbox(id);
    await Promise.all(this.#containersOf(id).map((container) => this.removeContainer(container.record.id)));
    await sandbox.remove();
    this.sandboxes.delete(id);
    this.context.changed(id);
  }

  #containersOf(sandboxId: string): KeptContainer[] {
    return [...this.containers.values()].filter(({ record }) => record.sandboxId === sandboxId);
  }

  createContainer(sandboxId: string, config: ContainerConfig, image: ResolvedImage): string {
    const sandbox = this.#sandbox(sandboxId);
    const { random, clock } = this.context;
    const id = newId(random);
    const record = {
      id,
      sandboxId,
      createdAt: clock.now(),
      config,
      image,
      logPath: join(sandbox.record.config.logDirectory, config.logPath),
      cgroup: `${sandbox.record.cgroup}/${id}`,
      executor: this.context.executorName,
      resources: config.resources,
      boot: undefined,
    };
    // Finds mistakes before anything is made.
    identityOf(config, image.config, image.users, sandbox.hostname);
    this.containers.set(id, KeptContainer.create(this.context, record));
    this.context.changed(sandboxId);
    return id;
  }

  async startContainer(id: string): Promise<void> {
    const container = this.#container(id);
    container.checkStartable();
    container.cgroup?.create(container.record.resources);
    this.context.cgroups?.anticipateMoves();
    const { connected } = this.#sandbox(container.record.sandboxId);
    await container.start(this.context.executor.prepare(this.#toStart(container)), connected);
  }

  /** Throws when it does not run. */
  runningContainer(id: string): ContainerToStart {
    this.#processOf(id);
    return this.#toStart(this.#container(id));
  }

  #toStart(container: KeptContainer): ContainerToStart {
    const { record, directory } = container;
    const { record: sandbox, files } = this.#sandbox(record.sandboxId);
    const { pid } = record.config.security;
    return {
      record,
      directory,
      identity: this.#identityOf(container),
      sandbox: { config: sandbox.config, holder: sandbox.holder, files },
      processTarget: typeof pid === 'object' ? this.#processOf(pid.containerId) : undefined,
    };
  }

  #identityOf({ record }: KeptContainer): ProcessIdentity {
    const { hostname } = this.#sandbox(record.sandboxId);
    return identityOf(record.config, record.image.config, record.image.users, hostname);
  }

  #processOf(id: string): number {
    const { pid } = this.#container(id);
    if (pid === undefined) throw new RuntimeError('NotFound', `container ${id} is not running`);
    return pid;
  }

  /** The file of the network namespace of a sandbox; undefined if it is that of the node. */
  networkOf(sandboxId: string): string | undefined {
    return this.#sandbox(sandboxId).record.holder?.netns;
  }

  updateSandbox(id: string, resources: ContainerResources): void {
    this.#sandbox(id).update(resources);
  }

  updateResources(id: string, resources: ContainerResources): void {
    this.#container(id).update(resources);
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const container = this.containers.get(id);
    const signal = container && (container.record.config.stopSignal ?? container.record.image.config.stopSignal);
    await container?.stop(timeoutSeconds, signalOf(signal));
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.containers.get(id);
    if (!container) return;
    await container.remove();
    this.containers.delete(id);
  }

  async usage(): Promise<ContainerUsage[]> {
    const time = this.context.clock.now();
    const running = [...this.containers.values()].filter(({ pid }) => pid !== undefined);
    const inCgroups = new Map(running.map(({ record, cgroup }) => [record.id, cgroup?.usage()]));
    const others = running.filter(({ record }) => !inCgroups.get(record.id));
    const trees = others.length > 0 ? usageOfTrees(others.map(({ pid }) => pid!)) : undefined;
    const used = await Promise.all(
      running.map(async (container): Promise<ContainerUsage[]> => {
        const { record, pid } = container;
        const usage = inCgroups.get(record.id) ?? trees?.get(pid!);
        return usage ? [{ id: record.id, time, ...usage, writableBytes: await this.#writtenBy(container) }] : [];
      }),
    );
    return used.flat();
  }

  /** Its layer, and the files in `/etc` that it has from its sandbox. */
  async #writtenBy({ directory, record }: KeptContainer): Promise<number> {
    const { resolvConf, hostname, hosts } = this.#sandbox(record.sandboxId).files;
    const paths = [join(directory, 'layer', 'upper'), resolvConf, hostname, hosts];
    try {
      return (await Promise.all(paths.map(treeBytes))).reduce((sum, bytes) => sum + bytes, 0);
    } catch (error) {
      // Nothing that is nested that deep is meant well.
      if (error instanceof TreeTooDeepError) return Number.MAX_SAFE_INTEGER;
      throw error;
    }
  }

  podUsage(): ContainerUsage[] {
    const { cgroups, clock } = this.context;
    return [...this.sandboxes.values()].flatMap(({ record }): ContainerUsage[] => {
      const usage = cgroups?.usage(record.cgroup);
      if (!usage) return [];
      const running = this.#containersOf(record.id).find(({ pid }) => pid !== undefined);
      const pid = record.config.namespaces.network === 'pod' ? running?.pid : undefined;
      const network = pid === undefined ? undefined : networkOf(pid);
      return [{ id: record.id, time: clock.now(), ...usage, writableBytes: undefined, network }];
    });
  }

  #sandbox(id: string): KeptSandbox {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw new RuntimeError('NotFound', `sandbox ${id} does not exist`);
    return sandbox;
  }

  #container(id: string): KeptContainer {
    const container = this.containers.get(id);
    if (!container) throw new RuntimeError('NotFound', `container ${id} does not exist`);
    return container;
  }

  container(id: string): KeptContainer {
    return this.#container(id);
  }
}

/** A name such as `SIGUSR1` or `USR1`, or a number. */
function signalOf(signal: string | undefined): NodeJS.Signals {
  if (signal === undefined || signal === '') return 'SIGTERM';
  const names = Object.entries(constants.signals);
  const byNumber = names.find(([, number]) => String(number) === signal)?.[0];
  const name = byNumber ?? (signal.startsWith('SIG') ? signal : `SIG${signal}`);
  return name in constants.signals ? (name as NodeJS.Signals) : 'SIGTERM';
}

function entriesOf(directory: string): string[] {
  makeDirectoriesSync(directory, 0o711);
  return readdirSync(directory);
}
